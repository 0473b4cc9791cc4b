#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <set>

#include "base/check.h"
#include "graph/canonical_key.h"
#include "graph/refinement.h"
#include "graph/region.h"

namespace fusefarm::graph {
namespace {

using Ranks = std::map<TensorId, std::size_t>;

struct Labelling {
  std::vector<std::size_t> node_rank;  // by position
  Ranks tensor_rank;
};

Labelling label(const Graph& region) {
  const std::size_t nodes = region.nodes().size();
  std::vector<TensorId> ids;
  for (const auto& [id, tensor] : region.tensors()) {
    ids.push_back(id);
  }
  const std::vector<std::size_t> order = Refinement(region).canonical_order();
  Labelling labelling;
  labelling.node_rank.resize(nodes);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t vertex = order[rank];
    if (vertex < nodes) {
      labelling.node_rank[vertex] = rank;
    } else {
      labelling.tensor_rank[ids[vertex - nodes]] = rank;
    }
  }
  return labelling;
}

// Topological order that takes the node of the least rank first (Kahn 1962).
std::vector<std::size_t> node_order(const Graph& region, const std::vector<std::size_t>& rank) {
  const std::vector<Node>& nodes = region.nodes();
  std::vector<std::set<std::size_t>> next(nodes.size());
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    for (const TensorId output : nodes[at].outputs) {
      for (const NodeId reader : region.consumers(output)) {
        next[at].insert(region.position(reader));
      }
    }
    for (const TensorId input : nodes[at].inputs) {
      const Node* overwriter = region.overwriter(input);
      if (overwriter != nullptr && overwriter->id != nodes[at].id) {
        next[at].insert(region.position(overwriter->id));
      }
    }
  }
  std::vector<int> waiting(nodes.size(), 0);
  for (const auto& successors : next) {
    for (const std::size_t to : successors) {
      ++waiting[to];
    }
  }
  using Entry = std::pair<std::size_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (waiting[at] == 0) {
      ready.emplace(rank[at], at);
    }
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t at = ready.top().second;
    ready.pop();
    order.push_back(at);
    for (const std::size_t to : next[at]) {
      if (--waiting[to] == 0) {
        ready.emplace(rank[to], to);
      }
    }
  }
  FUSEFARM_CHECK(order.size() == nodes.size(), "a node reads a tensor after it was overwritten");
  return order;
}

std::vector<TensorId> ordered_inputs(const Node& node, const Ranks& rank) {
  std::vector<TensorId> inputs = node.inputs;
  if (is_commutative(node.op)) {
    std::ranges::sort(inputs, [&](TensorId a, TensorId b) { return rank.at(a) < rank.at(b); });
  }
  return inputs;
}

// Activations, inputs, state, weights.
std::size_t group_of(TensorKind kind) {
  static constexpr std::array<std::size_t, 4> kGroup{1, 3, 2, 0};
  return kGroup[static_cast<std::size_t>(kind)];
}

// Source tensors in canonical order: those that nothing in the region produces by group and first
// use, then the produced ones by production; unused ones come last in their part.
std::vector<TensorId> tensor_order(const Graph& region, const std::vector<std::size_t>& order,
                                   const Ranks& rank) {
  std::array<std::vector<TensorId>, 4> groups;
  std::vector<TensorId> produced;
  std::set<TensorId> seen;
  const auto add = [&](TensorId id) {
    if (!seen.insert(id).second) {
      return;
    }
    groups[group_of(region.tensor(id).kind)].push_back(id);
  };
  for (const std::size_t at : order) {
    const Node& node = region.nodes()[at];
    for (const TensorId id : ordered_inputs(node, rank)) {
      add(id);
    }
    for (const TensorId id : node.outputs) {
      seen.insert(id);
      produced.push_back(id);
    }
  }
  std::vector<TensorId> unused;
  for (const auto& [id, tensor] : region.tensors()) {
    if (!seen.contains(id)) {
      unused.push_back(id);
    }
  }
  std::ranges::sort(unused, [&](TensorId a, TensorId b) { return rank.at(a) < rank.at(b); });
  for (const TensorId id : unused) {
    add(id);
  }
  std::vector<TensorId> all;
  for (const auto& group : groups) {
    all.insert(all.end(), group.begin(), group.end());
  }
  all.insert(all.end(), produced.begin(), produced.end());
  return all;
}

Digest certificate_digest(const Graph& canonical) {
  DigestBuilder digest;
  digest.add("fusefarm region").add(std::uint64_t{kSignatureVersion});
  const auto add_ids = [&](const std::vector<TensorId>& ids) {
    digest.add(std::uint64_t{ids.size()});
    for (const TensorId id : ids) {
      digest.add(static_cast<std::uint64_t>(id));
    }
  };
  for (const auto& [id, tensor] : canonical.tensors()) {
    digest.add(tensor_key(tensor));
  }
  for (const Node& node : canonical.nodes()) {
    digest.add(node_key(node));
    add_ids(node.inputs);
    add_ids(node.outputs);
  }
  add_ids(canonical.inputs);
  add_ids(canonical.outputs);
  return digest.finish();
}

}  // namespace

Canonical canonicalise(const Graph& region) {
  const Labelling labelling = label(region);
  const std::vector<std::size_t> order = node_order(region, labelling.node_rank);
  Canonical canonical;
  canonical.tensor_of = tensor_order(region, order, labelling.tensor_rank);
  std::map<TensorId, TensorId> renamed;
  for (const TensorId id : canonical.tensor_of) {
    Tensor tensor = region.tensor(id);
    tensor.id = kNone;
    tensor.name.clear();
    renamed[id] = canonical.graph.add_tensor(std::move(tensor));
  }
  for (const std::size_t at : order) {
    const Node& source = region.nodes()[at];
    Node node = source;
    node.id = kNone;
    node.name.clear();
    node.layer = kNone;
    node.origin = nullptr;  // its ids are those of the source
    node.inputs = ordered_inputs(source, labelling.tensor_rank);
    for (TensorId& id : node.inputs) {
      id = renamed.at(id);
    }
    for (TensorId& id : node.outputs) {
      id = renamed.at(id);
    }
    canonical.graph.add_node(std::move(node));
    canonical.node_of.push_back(source.id);
  }
  for (const TensorId id : region.inputs) {
    canonical.graph.inputs.push_back(renamed.at(id));
  }
  for (const TensorId id : region.outputs) {
    canonical.graph.outputs.push_back(renamed.at(id));
  }
  std::ranges::sort(canonical.graph.inputs);
  std::ranges::sort(canonical.graph.outputs);
  canonical.signature = certificate_digest(canonical.graph);
  return canonical;
}

Digest region_signature(const Graph& region) { return canonicalise(region).signature; }

}  // namespace fusefarm::graph
