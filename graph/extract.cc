#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "graph/flatten.h"
#include "graph/region.h"
#include "graph/region_cut.h"
#include "graph/topology.h"

namespace fusefarm::graph {
namespace {

Error bad_set(const std::string& why) {
  return Error{ErrorCode::kInvalidArgument, "not a region: " + why};
}

bool read_outside(const Graph& graph, TensorId id, const std::set<NodeId>& members) {
  if (!graph.tensors().contains(id)) {
    return false;  // interior of a region opened on the way
  }
  for (const NodeId reader : graph.consumers(id)) {
    if (!members.contains(reader)) {
      return true;
    }
  }
  return std::ranges::find(graph.outputs, id) != graph.outputs.end();
}

}  // namespace

Result<std::vector<std::size_t>> region_positions(const Graph& graph,
                                                  const std::vector<NodeId>& nodes) {
  if (nodes.empty()) {
    return bad_set("no nodes");
  }
  for (const NodeId id : nodes) {
    if (!graph.has_node(id)) {
      return bad_set("node " + std::to_string(id) + " does not exist");
    }
  }
  std::vector<std::size_t> members = positions_of(graph, nodes);
  if (!connected_positions(graph, members)) {
    return bad_set("its nodes are not connected");
  }
  if (!convex_positions(graph, members)) {
    return bad_set("a path leaves it and comes back, so it could not run as one unit");
  }
  return members;
}

Graph cut(const Graph& graph, const std::vector<std::size_t>& members, Regions regions) {
  std::int32_t next_id = graph.next_id;
  Flat flat = flatten(graph, members, regions, next_id);
  std::set<NodeId> ids;
  for (const std::size_t at : members) {
    ids.insert(graph.nodes()[at].id);
  }

  Graph region;
  for (auto& [id, tensor] : flat.tensors) {
    region.add_tensor(std::move(tensor));
  }
  std::array<std::vector<TensorId>, 4> inputs;  // by kind, in order of first use
  std::set<TensorId> seen;
  for (Node& node : flat.nodes) {
    for (const TensorId id : node.inputs) {
      if (!seen.insert(id).second) {
        continue;
      }
      inputs[static_cast<std::size_t>(region.tensor(id).kind)].push_back(id);
    }
    for (const TensorId id : node.outputs) {
      seen.insert(id);
      if (read_outside(graph, id, ids)) {
        region.outputs.push_back(id);
      }
    }
    region.add_node(std::move(node));
  }
  for (const TensorKind kind :
       {TensorKind::kActivation, TensorKind::kInput, TensorKind::kState, TensorKind::kWeight}) {
    const auto& group = inputs[static_cast<std::size_t>(kind)];
    region.inputs.insert(region.inputs.end(), group.begin(), group.end());
  }
  region.next_id = std::max(region.next_id, next_id);
  return region;
}

bool is_convex(const Graph& graph, const std::vector<NodeId>& nodes) {
  return convex_positions(graph, positions_of(graph, nodes));
}

Result<Graph> extract_region(const Graph& graph, const std::vector<NodeId>& nodes) {
  return cut(graph, TRY(region_positions(graph, nodes)), Regions::kExpand);
}

Result<Graph> extract_contracted(const Graph& graph, const std::vector<NodeId>& nodes,
                                 const Canonical& canonical) {
  const Graph source = cut(graph, TRY(region_positions(graph, nodes)), Regions::kKeep);
  std::map<TensorId, TensorId> renamed;
  for (const auto* ids : {&canonical.graph.inputs, &canonical.graph.outputs}) {
    for (const TensorId id : *ids) {
      renamed[canonical.tensor_of[static_cast<std::size_t>(id)]] = id;
    }
  }
  for (const auto* ids : {&source.inputs, &source.outputs}) {
    for (const TensorId id : *ids) {
      if (!renamed.contains(id)) {
        return Error{ErrorCode::kInvalidArgument,
                     "the canonical graph given is of another region: tensor " +
                         std::to_string(id) + " is not on its boundary"};
      }
    }
  }
  Graph region;
  region.next_id = canonical.graph.next_id;
  for (const auto& [id, from] : source.tensors()) {
    Tensor tensor = from;
    tensor.id = renamed.contains(id) ? renamed.at(id) : kNone;
    renamed[id] = region.add_tensor(std::move(tensor));
  }
  for (Node node : source.nodes()) {
    node.id = kNone;
    for (TensorId& id : node.inputs) {
      id = renamed.at(id);
    }
    for (TensorId& id : node.outputs) {
      id = renamed.at(id);
    }
    node.origin = nullptr;  // its ids are those of the graph it was cut from
    region.add_node(std::move(node));
  }
  region.inputs = canonical.graph.inputs;
  region.outputs = canonical.graph.outputs;
  return region;
}

}  // namespace fusefarm::graph
