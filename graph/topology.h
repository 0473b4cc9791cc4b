// Who must run after whom, by position in nodes(): data edges, and the order edges from the readers
// of a tensor to the node that overwrites it.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::graph {

// Ascending, each once.
std::vector<std::size_t> data_successors(const Graph& graph, const Node& node);
std::vector<std::size_t> data_predecessors(const Graph& graph, const Node& node);
// Data and order edges.
std::vector<std::size_t> successors(const Graph& graph, const Node& node);

// Positions of the ids, ascending, each once. The ids must exist.
std::vector<std::size_t> positions_of(const Graph& graph, const std::vector<NodeId>& nodes);

// `members` ascending. Convex: no path leaves the set and comes back.
bool convex_positions(const Graph& graph, const std::vector<std::size_t>& members);
// Connected by data edges, whatever their direction.
bool connected_positions(const Graph& graph, const std::vector<std::size_t>& members);

}  // namespace fusefarm::graph
