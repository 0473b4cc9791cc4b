// What the judge and the gate cost. Oracle of a step of the quick-start model (4 layers of
// Qwen3-0.6B), its lm_head alone (at most 0.6 s on one core), weights, and the gate.
#include <cmath>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/files.h"
#include "base/random.h"
#include "graph/model_import.h"
#include "graph/region.h"
#include "verify/gate.h"
#include "verify/inputs.h"
#include "verify/oracle.h"

namespace fusefarm::verify {
namespace {

struct Step {
  graph::Graph graph;
  graph::Bindings bindings{8, 8, 8 * 512, 8};
  graph::WeightLayout weight_layout;
  std::vector<std::byte> weights;

  Step() {
    const std::string path = std::string(FUSEFARM_SOURCE_DIR) + "/configs/models/qwen3-0.6b.json";
    const auto config = graph::parse_model_config(read_file(path).take(), path).take();
    graph::ImportOptions options;
    options.layers = 4;
    graph = graph::build_model_graph(config, options).take();
    weight_layout = graph::weight_layout(graph, bindings);
    weights.resize(static_cast<std::size_t>(weight_layout.bytes));
    fill_weights(graph, weight_layout, bindings, 1, weights, 2);
  }
};

const Step& step() {
  static const Step kStep;
  return kStep;
}

void evaluate_graph(benchmark::State& state, const graph::Graph& graph) {
  const Step& s = step();
  const graph::BoundaryLayout layout = graph::boundary_layout(graph, s.bindings);
  std::vector<std::byte> image(static_cast<std::size_t>(layout.bytes));
  fill_image(graph, s.bindings, layout, {}, image).take();
  const TensorValues inputs =
      view_inputs(graph, s.bindings, layout, image, s.weight_layout, {}, s.weights).take();
  EvaluateOptions options;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate(graph, s.bindings, inputs, options));
  }
}

void oracle_of_a_decode_step(benchmark::State& state) { evaluate_graph(state, step().graph); }

void oracle_of_lm_head(benchmark::State& state) {
  std::vector<graph::NodeId> nodes;
  for (const graph::Node& node : step().graph.nodes()) {
    if (node.name == "lm_head" || node.name == "argmax") {
      nodes.push_back(node.id);
    }
  }
  evaluate_graph(state, graph::extract_region(step().graph, nodes).take());
}

void weights(benchmark::State& state) {
  std::vector<std::byte> bytes(step().weights.size());
  for (auto _ : state) {
    fill_weights(step().graph, step().weight_layout, step().bindings, 1, bytes, 1);
  }
}

void gate(benchmark::State& state) {
  Random random(1);
  PairedMeasurement measurement;
  measurement.blocks.resize(4);
  for (Block& block : measurement.blocks) {
    block.quads.resize(16);
    for (Quad& quad : block.quads) {
      for (int i = 0; i < 4; ++i) {
        quad.slots[i] = {i == 1 || i == 2 ? Arm::kCandidate : Arm::kIncumbent,
                         static_cast<std::int64_t>(2e7 * std::exp(0.05 * random.normal())), 10};
      }
    }
  }
  const GatePolicy policy = confirm_policy({});
  for (auto _ : state) {
    benchmark::DoNotOptimize(decide(measurement, policy));
  }
  state.counters["samples_per_second"] =
      benchmark::Counter(4.0 * 64, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(oracle_of_a_decode_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(oracle_of_lm_head)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(weights)->Unit(benchmark::kMillisecond);
BENCHMARK(gate);

}  // namespace
}  // namespace fusefarm::verify
