// What the graph commands work on: a model config or a saved graph, bound to one workload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/model_import.h"
#include "graph/shard.h"
#include "records/workload.h"

namespace fusefarm::cli {

struct GraphOptions {
  std::string path;  // config.json, or a graph written by `graph import --save`
  std::int64_t tensor = 1;
  std::int64_t layers = 0;
  std::string workload = "decode:32:4096";
  std::string dtype = "bf16";
  std::string output = "table";
  std::string save;
  int nodes_max = 4;
};

struct GraphSource {
  std::optional<graph::ModelConfig> config;  // absent for a saved graph
  graph::Shard shard;
  graph::Graph model;
  Workload workload;
};

Result<GraphSource> load_graph(const GraphOptions& options);

}  // namespace fusefarm::cli
