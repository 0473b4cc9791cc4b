#include <set>

#include <gtest/gtest.h>

#include "graph/graph_io.h"
#include "graph/memory_layout.h"
#include "graph/model_import.h"
#include "graph/shard.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

std::vector<std::string> ops_of_layer(const Graph& graph, std::int32_t layer) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes()) {
    if (node.layer == layer) {
      ops.emplace_back(to_string(node.op));
    }
  }
  return ops;
}

const Tensor& weight_of(const Graph& graph, const std::string& node, std::size_t input = 1) {
  return graph.tensor(graph.node(node_named(graph, node)).inputs[input]);
}

TEST(ModelBuilderTest, ParameterCountsMatchThePublishedModels) {
  const auto count = [](const char* name, bool mtp = false) {
    return static_cast<double>(parameter_count(config_of(name), mtp));
  };
  EXPECT_NEAR(count("glm-4.7"), 352.8e9, 352.8e6);
  EXPECT_NEAR(count("glm-4.7", true), 356.8e9, 356.8e6);
  EXPECT_NEAR(count("llama-3-70b"), 70.55e9, 0.01e9);
  EXPECT_NEAR(count("llama-3-8b"), 8.03e9, 0.01e9);
  EXPECT_NEAR(count("qwen3-0.6b"), 0.596e9, 0.001e9);
  EXPECT_NEAR(count("llada2-flash"), 102.9e9, 0.1e9);
}

TEST(ModelBuilderTest, TheWeightsOfAllRanksAreTheParameters) {
  // On one rank the graph holds each parameter exactly once.
  for (const char* name : {"tiny-dense", "tiny-moe", "tiny-diffusion-moe", "qwen3-0.6b"}) {
    const Graph graph = model_of(name);
    std::int64_t held = 0;
    for (const auto& [id, tensor] : graph.tensors()) {
      if (tensor.kind == TensorKind::kWeight) {
        held += element_count(tensor, Bindings{});
      }
    }
    EXPECT_EQ(held, parameter_count(config_of(name), false)) << name;
  }
}

TEST(ModelBuilderTest, GlmOnEightRanksHasTheServedShapes) {
  const Graph graph = model_of("glm-4.7", {.tensor_parallel = 8});
  EXPECT_EQ(weight_of(graph, "layers.91.self_attn.qkv_proj").shape,
            (std::vector<Dim>{fixed(1792), fixed(5120)}));
  EXPECT_EQ(weight_of(graph, "layers.91.self_attn.qkv_proj", 2).shape,
            (std::vector<Dim>{fixed(1792)}));
  EXPECT_EQ(weight_of(graph, "layers.3.mlp.experts.gate_up_proj", 2).shape,
            (std::vector<Dim>{fixed(160), fixed(384), fixed(5120)}));
  EXPECT_EQ(weight_of(graph, "layers.3.mlp.experts.down_proj", 2).shape,
            (std::vector<Dim>{fixed(160), fixed(5120), fixed(192)}));
  EXPECT_EQ(weight_of(graph, "layers.2.mlp.gate_up_proj").shape,
            (std::vector<Dim>{fixed(3072), fixed(5120)}));
  const Node& split = graph.node(node_named(graph, "layers.0.self_attn.qkv_split"));
  EXPECT_EQ(graph.tensor(split.outputs[0]).shape[1], fixed(12));
  EXPECT_EQ(graph.tensor(split.outputs[1]).shape[1], fixed(1));
  EXPECT_EQ(weight_of(graph, "layers.3.mlp.router").dtype, DType::kF32);
  const std::vector<std::string> ops = ops_of_layer(graph, 50);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "all_reduce"), 2);
  EXPECT_EQ(ops.size(), 26U);
}

TEST(ModelBuilderTest, KvHeadsReplicateWhenThereAreFewerThanRanks) {
  const auto shard = shard_of(config_of("llada2-flash"), 8);
  ASSERT_TRUE(shard.ok());
  EXPECT_TRUE(shard->kv_replicated);
  EXPECT_EQ((shard->heads + 2 * shard->kv_heads) * 128, 768);
  const Graph graph = model_of("llada2-flash", {.tensor_parallel = 8, .layers = 2});
  EXPECT_EQ(weight_of(graph, "layers.1.self_attn.qkv_proj").shape[0], fixed(768));
}

TEST(ModelBuilderTest, ADenseLayerIsInTheOrderOfTheModel) {
  const Graph graph = model_of("qwen3-0.6b", {.layers = 4});
  EXPECT_EQ(ops_of_layer(graph, 3),
            (std::vector<std::string>{"rms_norm", "linear", "split", "rms_norm", "rms_norm", "rope",
                                      "rope", "kv_write", "attention", "linear", "add", "rms_norm",
                                      "linear", "silu_mul", "linear", "add"}));
  // Token ids, positions, slots, and two caches a layer.
  EXPECT_EQ(graph.inputs.size(), 3U + 8U);
  EXPECT_EQ(graph.outputs.size(), 1U + 8U);
}

TEST(ModelBuilderTest, ATiedHeadReadsTheEmbeddingTable) {
  const Graph tied = model_of("qwen3-0.6b", {.layers = 1});
  EXPECT_EQ(tied.node(node_named(tied, "lm_head")).inputs[1],
            tied.node(node_named(tied, "embed_tokens")).inputs[1]);
  const Graph apart = model_of("llama-3-8b", {.layers = 1});
  EXPECT_NE(apart.node(node_named(apart, "lm_head")).inputs[1],
            apart.node(node_named(apart, "embed_tokens")).inputs[1]);
}

TEST(ModelBuilderTest, OnlyPrefillSelectsRows) {
  const auto selects = [](Phase phase) {
    const Graph graph = model_of("tiny-diffusion-moe", {.phase = phase});
    return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                       [](const Node& node) { return node.op == OpKind::kSelectRows; });
  };
  EXPECT_FALSE(selects(Phase::kDecode));
  EXPECT_TRUE(selects(Phase::kPrefill));
  EXPECT_FALSE(selects(Phase::kBlockDiffusion));
  const Graph block = model_of("tiny-diffusion-moe", {.phase = Phase::kBlockDiffusion});
  const Node& attention = block.node(node_named(block, "layers.0.self_attn.attention"));
  EXPECT_EQ(attention.attrs.integer("causal", -1), 0);
}

TEST(ModelBuilderTest, BlockDiffusionOfATokenByTokenModelIsRefused) {
  const auto graph = build_model_graph(config_of("tiny-dense"), {.phase = Phase::kBlockDiffusion});
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.error().message.find("qwen3"), std::string::npos);
}

TEST(ModelBuilderTest, DimsThatRanksCantShareAreNamedWithWhatWouldDo) {
  const auto message = [](const ModelConfig& config, std::int64_t ranks) {
    const auto graph = build_model_graph(config, {.tensor_parallel = ranks});
    return graph.ok() ? std::string("accepted") : graph.error().message;
  };
  const std::string heads = message(config_of("qwen3-0.6b"), 3);
  EXPECT_NE(heads.find("'num_attention_heads' is 16"), std::string::npos) << heads;
  EXPECT_NE(heads.find("1, 2, 4, 8, 16"), std::string::npos) << heads;
  ModelConfig odd = config_of("qwen3-0.6b");
  odd.vocabulary = 151937;
  EXPECT_NE(message(odd, 2).find("'vocab_size'"), std::string::npos);
  odd = config_of("glm-4.7");
  odd.expert_intermediate = 1540;
  EXPECT_NE(message(odd, 8).find("'moe_intermediate_size'"), std::string::npos);
  odd = config_of("qwen3-0.6b");
  odd.kv_heads = 6;
  odd.heads = 24;
  EXPECT_NE(message(odd, 4).find("'num_key_value_heads'"), std::string::npos);
  EXPECT_NE(message(config_of("qwen3-0.6b"), 0).find("tensor-parallel"), std::string::npos);
  odd = config_of("llama-3-8b");
  odd.output_bias = true;
  EXPECT_NE(message(odd, 2).find("attention_bias"), std::string::npos);
  const auto layers = build_model_graph(config_of("tiny-dense"), {.layers = 9});
  EXPECT_NE(layers.error().message.find("layers is 9"), std::string::npos);
}

void expect_valid(const char* name, const ImportOptions& options) {
  const auto valid = validate(model_of(name, options));
  EXPECT_TRUE(valid.ok()) << name << ": " << valid.error().message;
}

TEST(ModelBuilderTest, EveryGraphPassesTheRulesOfItsOps) {
  for (const char* name :
       {"tiny-dense", "tiny-moe", "tiny-diffusion-moe", "glm-4.7", "llada2-flash", "llama-3-70b"}) {
    for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
      expect_valid(name, {1, 0, phase, DType::kBF16});
      expect_valid(name, {2, 0, phase, DType::kBF16});
      expect_valid(name, {1, 0, phase, DType::kF32});
    }
  }
}

TEST(ModelBuilderTest, AWrittenCacheLiesWhereTheCacheWas) {
  const Graph graph = model_of("tiny-dense");
  for (const TensorId id : graph.outputs) {
    if (graph.tensor(id).kind != TensorKind::kState) {
      continue;
    }
    const TensorId storage = storage_of(graph, id);
    EXPECT_NE(storage, id);
    EXPECT_EQ(graph.producer(storage), nullptr);
  }
  const BoundaryLayout layout = boundary_layout(graph, {8, 8, 512, 8});
  EXPECT_EQ(layout.offset.at(graph.outputs.back()),
            layout.offset.at(storage_of(graph, graph.outputs.back())));
}

}  // namespace
}  // namespace fusefarm::graph
