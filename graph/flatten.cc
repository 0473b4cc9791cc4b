#include "graph/flatten.h"

#include <utility>

#include "base/check.h"

namespace fusefarm::graph {
namespace {

// The body of a region with the ids of the graph it stands in.
Graph renumbered_body(const Node& region, std::int32_t& next_id) {
  const Graph& body = *region.body;
  std::map<TensorId, TensorId> renamed;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    renamed[body.inputs[i]] = region.inputs[i];
  }
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    renamed[body.outputs[i]] = region.outputs[i];
  }
  Graph out;
  for (const auto& [id, source] : body.tensors()) {
    Tensor tensor = source;
    if (!renamed.contains(id)) {
      renamed[id] = next_id++;
    }
    tensor.id = renamed.at(id);
    out.add_tensor(std::move(tensor));
  }
  for (Node node : body.nodes()) {
    node.id = next_id++;
    node.layer = region.layer;
    node.name = region.name + "." + to_string(node.op);
    for (TensorId& id : node.inputs) {
      id = renamed.at(id);
    }
    for (TensorId& id : node.outputs) {
      id = renamed.at(id);
    }
    out.add_node(std::move(node));
  }
  return out;
}

void append(const Graph& graph, const Node& node, Regions regions, std::int32_t& next_id,
            Flat& flat) {
  if (node.op != OpKind::kRegion || regions == Regions::kKeep) {
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (const TensorId id : *ids) {
        flat.tensors.try_emplace(id, graph.tensor(id));
      }
    }
    flat.nodes.push_back(node);
    return;
  }
  FUSEFARM_CHECK(node.body != nullptr || node.origin != nullptr, "region node without a body");
  // The boundary is described by the graph around it: names are its own.
  for (const auto* ids : {&node.inputs, &node.outputs}) {
    for (const TensorId id : *ids) {
      flat.tensors.try_emplace(id, graph.tensor(id));
    }
  }
  const Regions inside = regions == Regions::kOpenOnce ? Regions::kKeep : regions;
  if (node.origin != nullptr) {
    for (const Node& member : node.origin->nodes()) {
      append(*node.origin, member, inside, next_id, flat);
    }
    return;
  }
  const Graph made = renumbered_body(node, next_id);
  for (const Node& member : made.nodes()) {
    append(made, member, inside, next_id, flat);
  }
}

}  // namespace

Flat flatten(const Graph& graph, const std::vector<std::size_t>& members, Regions regions,
             std::int32_t& next_id) {
  Flat flat;
  for (const std::size_t at : members) {
    append(graph, graph.nodes()[at], regions, next_id, flat);
  }
  return flat;
}

}  // namespace fusefarm::graph
