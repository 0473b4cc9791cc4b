#include "graph/cost.h"

#include <gtest/gtest.h>

#include "graph/region.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

Cost cost_of(const Graph& graph, const std::string& name, const Bindings& bindings) {
  return node_cost(graph, graph.node(node_named(graph, name)), bindings);
}

TEST(CostTest, AGemmReadsItsWeightOnceAndMultipliesAndAdds) {
  const Graph graph = model_of("qwen3-0.6b", {.layers = 1});
  const Cost cost = cost_of(graph, "layers.0.mlp.gate_up_proj", {8, 8, 512, 8});
  EXPECT_EQ(cost.weight_bytes, 6144 * 1024 * 2);
  EXPECT_EQ(cost.bytes_read, 8 * 1024 * 2);
  EXPECT_EQ(cost.bytes_written, 8 * 6144 * 2);
  EXPECT_DOUBLE_EQ(cost.flops, 2.0 * 8 * 6144 * 1024);
}

TEST(CostTest, OnlyTheRowsOfTheStepAreReadFromATableOrWrittenToACache) {
  const Graph graph = model_of("qwen3-0.6b", {.layers = 1});
  const Bindings bindings{8, 8, 32768, 8};
  EXPECT_EQ(cost_of(graph, "embed_tokens", bindings).weight_bytes, 8 * 1024 * 2);
  const Cost write = cost_of(graph, "layers.0.self_attn.kv_write", bindings);
  EXPECT_EQ(write.bytes_written, 2 * 8 * 8 * 128 * 2);
  EXPECT_EQ(write.bytes_read, 2 * 8 * 8 * 128 * 2 + 8 * 4);
}

TEST(CostTest, ExpertsAreCountedAsUniformRoutingTouchesThem) {
  const Graph graph = model_of("glm-4.7", {.tensor_parallel = 8, .layers = 4});
  const auto weights = [&](std::int64_t batch) {
    return static_cast<double>(
        cost_of(graph, "layers.3.mlp.experts.gate_up_proj", {batch, batch, batch * 4096, batch})
            .weight_bytes);
  };
  const double expert = 384.0 * 5120 * 2;
  EXPECT_NEAR(weights(1) / expert, 8, 0.01);
  EXPECT_NEAR(weights(64) / expert, 160 * (1 - std::pow(1 - 8.0 / 160, 64)), 0.01);
}

TEST(CostTest, CausalAttentionOfAPromptSeesHalfOfIt) {
  const Graph graph = model_of("tiny-dense", {.layers = 1, .phase = Phase::kPrefill});
  const Cost prompt = cost_of(graph, "layers.0.self_attn.attention", {64, 1, 64, 1});
  EXPECT_DOUBLE_EQ(prompt.flops, 4.0 * 64 * 4 * 32 * 32.5);
  const Cost decode = cost_of(graph, "layers.0.self_attn.attention", {8, 8, 800, 8});
  EXPECT_DOUBLE_EQ(decode.flops, 4.0 * 8 * 4 * 32 * 100);
  EXPECT_EQ(decode.bytes_read, 2 * 800 * 2 * 32 * 2 + 8 * 4 * 32 * 2 + 8 * 4);
}

TEST(CostTest, FusingSavesExactlyTheInteriorTensors) {
  const Graph graph = model_of("qwen3-0.6b", {.layers = 1});
  const Bindings bindings{8, 8, 512, 8};
  const std::vector<NodeId> nodes =
      nodes_named(graph, {"layers.0.mlp.gate_up_proj", "layers.0.mlp.silu_mul"});
  const Cost fused = region_cost(*extract_region(graph, nodes), bindings);
  const Cost a = node_cost(graph, graph.node(nodes[0]), bindings);
  const Cost b = node_cost(graph, graph.node(nodes[1]), bindings);
  EXPECT_EQ(a.bytes() + b.bytes() - fused.bytes(), 2 * 8 * 6144 * 2);
  EXPECT_DOUBLE_EQ(fused.flops, a.flops + b.flops);
  const Graph contracted = contract(graph, nodes).take();
  const Cost node = node_cost(contracted, contracted.node(contracted.next_id - 1), bindings);
  EXPECT_EQ(node.bytes(), fused.bytes());
}

TEST(CostTest, ViewsAreFree) {
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  EXPECT_EQ(cost_of(graph, "layers.0.self_attn.qkv_split", {8, 8, 512, 8}).bytes(), 0);
}

}  // namespace
}  // namespace fusefarm::graph
