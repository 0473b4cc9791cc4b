// Reads the parsed JSON of a graph. Checks everything that Graph's own methods take for granted, so
// that no input can reach one of their checks.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::graph {

constexpr const char* kGraphFormat = "fusefarm-graph-1";

const char* to_string(TensorKind kind);
const char* to_string(Init init);

// Structure only; validate() checks meaning.
Result<Graph> read_graph_json(const nlohmann::json& object);

}  // namespace fusefarm::graph
