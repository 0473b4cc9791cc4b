// Graphs that the graph tests share.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "graph/model_import.h"

namespace fusefarm::graph {

// The text of configs/models/<name>.json.
std::string config_text(const std::string& name);
ModelConfig config_of(const std::string& name);
Graph model_of(const std::string& name, const ImportOptions& options = {});

// A random DAG of `nodes` row-wise ops over [T,16], with a few shared operands and graph outputs.
Graph random_graph(std::uint64_t seed, int nodes);

// The same graph under other ids, other names, another topological order and swapped operands of
// commutative ops. `node_of` receives old node id -> new.
Graph shuffled(const Graph& graph, std::uint64_t seed, std::map<NodeId, NodeId>* node_of = nullptr);

NodeId node_named(const Graph& graph, const std::string& name);
std::vector<NodeId> nodes_named(const Graph& graph, const std::vector<std::string>& names);

}  // namespace fusefarm::graph
