#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "graph/flatten.h"
#include "graph/memory_layout.h"
#include "graph/region.h"
#include "graph/region_cut.h"
#include "graph/topology.h"

namespace fusefarm::graph {
namespace {

std::vector<std::size_t> all_positions(const Graph& graph) {
  std::vector<std::size_t> all(graph.nodes().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// A graph of these nodes with everything else taken from `like`. Tensors that no node touches any
// more are dropped, unless they are inputs, outputs or weights of the graph.
Graph rebuild(const Graph& like, std::vector<Node> nodes, std::map<TensorId, Tensor> tensors) {
  std::set<TensorId> kept(like.inputs.begin(), like.inputs.end());
  kept.insert(like.outputs.begin(), like.outputs.end());
  for (const Node& node : nodes) {
    kept.insert(node.inputs.begin(), node.inputs.end());
    kept.insert(node.outputs.begin(), node.outputs.end());
  }
  Graph out;
  for (auto& [id, tensor] : tensors) {
    if (kept.contains(id) || tensor.kind == TensorKind::kWeight) {
      out.add_tensor(std::move(tensor));
    }
  }
  for (Node& node : nodes) {
    out.add_node(std::move(node));
  }
  out.inputs = like.inputs;
  out.outputs = like.outputs;
  out.version = like.version;
  out.next_id = std::max(out.next_id, like.next_id);
  return out;
}

// Positions outside the set that must run after it, among those before its last member.
std::set<std::size_t> late_positions(const Graph& graph, const std::vector<std::size_t>& members) {
  std::set<std::size_t> late;
  for (std::size_t at = members.front(); at <= members.back(); ++at) {
    const bool member = std::ranges::binary_search(members, at);
    if (!member && !late.contains(at)) {
      continue;
    }
    for (const std::size_t next : successors(graph, graph.nodes()[at])) {
      if (!std::ranges::binary_search(members, next)) {
        late.insert(next);
      }
    }
  }
  return late;
}

std::vector<std::pair<int, int>> region_aliases(const Graph& region) {
  std::vector<std::pair<int, int>> aliases;
  for (std::size_t o = 0; o < region.outputs.size(); ++o) {
    const TensorId storage = storage_of(region, region.outputs[o]);
    const auto input = std::ranges::find(region.inputs, storage);
    if (storage == region.outputs[o] || input == region.inputs.end()) {
      continue;
    }
    aliases.emplace_back(static_cast<int>(o), static_cast<int>(input - region.inputs.begin()));
  }
  return aliases;
}

Node region_node(const Graph& graph, const std::vector<std::size_t>& members) {
  Canonical canonical = canonicalise(cut(graph, members, Regions::kExpand));
  Node node;
  node.id = graph.next_id;
  node.op = OpKind::kRegion;
  node.layer = graph.nodes()[members.front()].layer;
  node.name = (node.layer == kNone ? "" : "layers." + std::to_string(node.layer) + ".") +
              "region_" + canonical.signature.short_hex();
  for (const TensorId id : canonical.graph.inputs) {
    node.inputs.push_back(canonical.tensor_of[static_cast<std::size_t>(id)]);
  }
  for (const TensorId id : canonical.graph.outputs) {
    node.outputs.push_back(canonical.tensor_of[static_cast<std::size_t>(id)]);
  }
  node.aliases = region_aliases(canonical.graph);
  node.attrs.set("signature", canonical.signature.hex());
  Graph origin = cut(graph, members, Regions::kKeep);
  origin.inputs = node.inputs;
  origin.outputs = node.outputs;
  node.origin = std::make_shared<const Graph>(std::move(origin));
  node.body = std::make_shared<const Graph>(std::move(canonical.graph));
  return node;
}

}  // namespace

Result<Graph> contract(const Graph& graph, const std::vector<NodeId>& nodes) {
  const std::vector<std::size_t> members = TRY(region_positions(graph, nodes));
  const Node contracted = region_node(graph, members);
  const std::set<std::size_t> late = late_positions(graph, members);
  std::vector<Node> order;
  std::vector<Node> after;
  for (std::size_t at = 0; at < graph.nodes().size(); ++at) {
    const Node& node = graph.nodes()[at];
    if (std::ranges::binary_search(members, at)) {
      if (at != members.back()) {
        continue;
      }
      order.push_back(contracted);
      order.insert(order.end(), after.begin(), after.end());
    } else if (at < members.back() && late.contains(at)) {
      after.push_back(node);
    } else {
      order.push_back(node);
    }
  }
  Graph out = rebuild(graph, std::move(order), graph.tensors());
  ++out.version;
  return out;
}

Result<Graph> dissolve(const Graph& graph, NodeId region_node) {
  if (!graph.has_node(region_node) || graph.node(region_node).op != OpKind::kRegion) {
    return Error{ErrorCode::kInvalidArgument,
                 "node " + std::to_string(region_node) + " is not a contracted region"};
  }
  std::int32_t next_id = graph.next_id;
  std::vector<Node> order;
  std::map<TensorId, Tensor> tensors = graph.tensors();
  for (std::size_t at = 0; at < graph.nodes().size(); ++at) {
    const Node& node = graph.nodes()[at];
    if (node.id != region_node) {
      order.push_back(node);
      continue;
    }
    Flat flat = flatten(graph, {at}, Regions::kOpenOnce, next_id);
    for (Node& inner : flat.nodes) {
      order.push_back(std::move(inner));
    }
    tensors.merge(flat.tensors);
  }
  Graph out = rebuild(graph, std::move(order), std::move(tensors));
  out.next_id = std::max(out.next_id, next_id);
  ++out.version;
  return out;
}

Graph expand(const Graph& graph) {
  std::int32_t next_id = graph.next_id;
  Flat flat = flatten(graph, all_positions(graph), Regions::kExpand, next_id);
  std::map<TensorId, Tensor> tensors = graph.tensors();
  tensors.merge(flat.tensors);
  Graph out = rebuild(graph, std::move(flat.nodes), std::move(tensors));
  out.next_id = std::max(out.next_id, next_id);
  return out;
}

}  // namespace fusefarm::graph
