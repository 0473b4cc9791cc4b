// Enumeration and signatures on the largest graph we serve: GLM-4.7, 92 layers, 8 ranks. Both
// together must stay under 2 s.
#include <string>

#include <benchmark/benchmark.h>

#include "base/files.h"
#include "graph/model_import.h"
#include "graph/region.h"

namespace fusefarm::graph {
namespace {

Graph glm() {
  const std::string path = std::string(FUSEFARM_SOURCE_DIR) + "/configs/models/glm-4.7.json";
  const ModelConfig config = parse_model_config(read_file(path).take(), path).take();
  ImportOptions options;
  options.tensor_parallel = 8;
  return build_model_graph(config, options).take();
}

EnumerateOptions up_to(benchmark::State& state) {
  EnumerateOptions options;
  options.nodes_max = static_cast<int>(state.range(0));
  return options;
}

void build(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(glm());
  }
}

void enumerate(benchmark::State& state) {
  const Graph graph = glm();
  std::size_t sets = 0;
  for (auto _ : state) {
    sets = enumerate_regions(graph, up_to(state)).size();
  }
  state.counters["sets"] = static_cast<double>(sets);
}

void signature(benchmark::State& state) {
  const Graph graph = glm();
  const std::vector<NodeSet> sets = enumerate_regions(graph, up_to(state));
  std::size_t classes = 0;
  for (auto _ : state) {
    classes = classify_regions(graph, sets).size();
  }
  state.counters["classes"] = static_cast<double>(classes);
}

void signature_of_one_region(benchmark::State& state) {
  const Graph graph = glm();
  const std::vector<NodeSet> sets = enumerate_regions(graph, up_to(state));
  const Graph region = extract_region(graph, sets[sets.size() / 2].nodes).take();
  for (auto _ : state) {
    benchmark::DoNotOptimize(region_signature(region));
  }
}

void contract_one_region(benchmark::State& state) {
  const Graph graph = glm();
  const std::vector<NodeSet> sets = enumerate_regions(graph, up_to(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(contract(graph, sets[sets.size() / 2].nodes).take());
  }
}

BENCHMARK(build)->Unit(benchmark::kMillisecond);
BENCHMARK(enumerate)->Arg(4)->Arg(5)->Arg(7)->Arg(9)->Unit(benchmark::kMillisecond);
BENCHMARK(signature)->Arg(4)->Arg(5)->Arg(7)->Unit(benchmark::kMillisecond);
BENCHMARK(signature_of_one_region)->Arg(5)->Unit(benchmark::kMicrosecond);
BENCHMARK(contract_one_region)->Arg(5)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fusefarm::graph
