// The regions a graph version offers, grouped by canonical signature: a repeated layer is searched
// once and rewritten everywhere.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "graph/graph.h"
#include "graph/region.h"

namespace fusefarm::search {

struct RegionGroup {
  Digest signature;
  std::shared_ptr<const graph::Graph> region;  // canonical; accepted regions inside are expanded
  // The same boundary, with accepted regions inside still contracted; `region` when there are none.
  std::shared_ptr<const graph::Graph> incumbent;
  std::vector<graph::TensorId> tensor_of;   // canonical tensor -> tensor of the first occurrence
  std::vector<graph::NodeSet> occurrences;  // pairwise disjoint, by position
  std::string pattern;                      // ops in order, "add+rms_norm": the prior's key
  int members = 0;                          // contracted nodes, views left out
  std::vector<Digest> contains;             // signatures of accepted regions inside
  // An accepted region itself, for workloads without an implementation of it: nothing is
  // contracted.
  bool revisit = false;
};

struct GroupOptions {
  int nodes_max = 4;
  std::size_t regions_max = 200'000;
  std::function<bool(const graph::Node&)> may_contain;
  std::function<bool(const graph::Graph&)> can_implement;  // of the extracted region
};

struct RegionCatalogue {
  std::size_t enumerated = 0;     // connected convex sets
  std::size_t implementable = 0;  // those with an implementation
  std::vector<RegionGroup> groups;
};

// Deterministic. Errors are bugs of ours in the graph (kInternal) and end the campaign.
Result<RegionCatalogue> catalogue_regions(const graph::Graph& model, const GroupOptions& options);

// The accepted regions of the graph, each as a group of its own, by first occurrence.
Result<std::vector<RegionGroup>> accepted_regions(const graph::Graph& model);

// The digest that a kRegion node carries; zero when it carries none.
Digest signature_of(const graph::Node& region_node);

// The same graph with other bodies for some kRegion nodes (same boundaries).
graph::Graph with_bodies(
    const graph::Graph& source,
    const std::map<graph::NodeId, std::shared_ptr<const graph::Graph>>& bodies);

// Contracts every occurrence of a group; the new nodes' body is the group's incumbent graph, so
// that a workload without an implementation of the larger region keeps those of the smaller ones.
// The version rises by one. `made`, when given, receives (new node, members) for each occurrence.
struct Contraction {
  graph::NodeId node = graph::kNone;
  std::vector<graph::NodeId> members;
};

Result<graph::Graph> contract_group(const graph::Graph& model, const RegionGroup& group,
                                    std::vector<Contraction>* made);

}  // namespace fusefarm::search
