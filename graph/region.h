// Regions: connected, convex, side-effect-closed node sets of a (contracted) graph, their
// extraction as a graph of their own, their canonical signature, and the rewrite that contracts
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::graph {

struct NodeSet {
  std::vector<NodeId> nodes;  // ascending topological position
  friend bool operator==(const NodeSet&, const NodeSet&) = default;
};

struct EnumerateOptions {
  int nodes_max = 4;  // of the contracted graph
  std::size_t regions_max = 200'000;
  // Which nodes may be a member at all (a fused implementation can exist). Views count as members
  // but not towards nodes_max.
  std::function<bool(const Node&)> may_contain;
};

// All connected convex sets of 2..nodes_max members, each once, in a deterministic order. Left
// out are sets with a view that no member reads, or that comes in and is read outside too: the same
// set without the view is there, and does no more work.
// Side-effect closed: a set that overwrites state contains every reader of the overwritten tensor
// that would otherwise run after it.
std::vector<NodeSet> enumerate_regions(const Graph& graph, const EnumerateOptions& options);

bool is_convex(const Graph& graph, const std::vector<NodeId>& nodes);

// The set as a graph of its own: kRegion members are expanded to their bodies. Inputs are boundary
// tensors read (activations, inputs, state, then weights; each group by first use), outputs are the
// tensors produced inside that are read outside or are graph outputs, by production order.
// Errors: kInvalidArgument when the set is empty, not connected or not convex.
Result<Graph> extract_region(const Graph& graph, const std::vector<NodeId>& nodes);

// Canonical signature of an extracted region: invariant to names, ids and node order; covers ops,
// attributes, dtypes, fixed dims, symbol classes and the boundary. Equal signatures: the boundary
// tensors correspond in the canonical order given by canonical_order().
constexpr int kSignatureVersion = 1;
Digest region_signature(const Graph& region);

// A region in canonical form: nodes, tensors, inputs and outputs renumbered and reordered in the
// canonical order, names dropped, so that two occurrences of a repeated layer become equal graphs.
struct Canonical {
  Graph graph;
  Digest signature;
  std::vector<TensorId> tensor_of;  // canonical tensor id -> tensor id in the source region
  std::vector<NodeId> node_of;      // position in graph.nodes() -> node id in the source region
};

Canonical canonicalise(const Graph& region);

// The same set with its kRegion members kept contracted. Boundary tensors have the ids and the
// order of `canonical`, which is canonicalise(extract_region(graph, nodes)); the rest gets fresh
// ids.
Result<Graph> extract_contracted(const Graph& graph, const std::vector<NodeId>& nodes,
                                 const Canonical& canonical);

// Sets of equal signature: one layer's region repeated is one class with an occurrence a layer.
struct RegionClass {
  Digest signature;
  std::vector<std::size_t> occurrences;  // indices into the sets given, ascending
};

// Ordered by first occurrence. Far cheaper than a signature per set: sets that look alike node by
// node share one.
std::vector<RegionClass> classify_regions(const Graph& graph, const std::vector<NodeSet>& sets);

// Replaces the set by one kRegion node; version + 1. The new node's inputs and outputs are those of
// extract_region, permuted into the canonical order, and its body is the canonical graph.
// attrs of the new node: {signature: hex}.
Result<Graph> contract(const Graph& graph, const std::vector<NodeId>& nodes);

// The inverse: the kRegion node is replaced by the nodes it was made from (which may be kRegion
// nodes themselves), with the ids they had; version + 1.
Result<Graph> dissolve(const Graph& graph, NodeId region_node);

// Every kRegion replaced by its body, recursively. The version stays.
Graph expand(const Graph& graph);

}  // namespace fusefarm::graph
