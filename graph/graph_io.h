// Graphs as text: JSON (stable, read back by us), and Graphviz for people.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::graph {

std::string to_json(const Graph& graph);
// Strict: unknown keys, dangling ids, cycles and shape contradictions are errors. Fuzzed.
Result<Graph> graph_from_json(std::string_view json);

// Regions as clusters; collectives and side effects marked.
std::string to_dot(const Graph& graph);

// Checks arity, dtypes, shapes and attributes of every node (recursively into bodies).
Result<void> validate(const Graph& graph);

}  // namespace fusefarm::graph
