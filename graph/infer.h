// Shape and type rules of single ops.
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::graph {

// Arity, dtypes, shapes and attributes of one node; bodies are not entered. The error names the
// node and what is wrong.
Result<void> check_node(const Graph& graph, const Node& node);

}  // namespace fusefarm::graph
