// Cutting a checked node set out of a graph; shared by extraction and contraction.
#pragma once

#include <vector>

#include "base/result.h"
#include "graph/flatten.h"
#include "graph/graph.h"

namespace fusefarm::graph {

// Positions of a set that is a region: exists, is connected and convex.
Result<std::vector<std::size_t>> region_positions(const Graph& graph,
                                                  const std::vector<NodeId>& nodes);

// The set as a graph with inputs and outputs ordered as extract_region() says, ids kept.
Graph cut(const Graph& graph, const std::vector<std::size_t>& members, Regions regions);

}  // namespace fusefarm::graph
