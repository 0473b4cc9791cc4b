// Members of a graph as plain nodes with their tensors, kRegion nodes replaced by what they are
// made of. The common step of extraction, expansion and dissolving.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::graph {

struct Flat {
  std::vector<Node> nodes;             // topological
  std::map<TensorId, Tensor> tensors;  // every tensor that a node reads or writes
};

enum class Regions { kKeep, kOpenOnce, kExpand };

// `members` ascending. Interior tensors and nodes of an opened region get the ids they had
// (origin), or fresh ones from `next_id` when it has none.
Flat flatten(const Graph& graph, const std::vector<std::size_t>& members, Regions regions,
             std::int32_t& next_id);

}  // namespace fusefarm::graph
