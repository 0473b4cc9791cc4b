// Import of a Hugging Face config.json as the per-rank graph of one decoder model.
// Families: llama, qwen3, glm4_moe, llada2_moe with their aliases; everything else is refused by
// name. The graph is symbolic in its token dims: one graph serves every workload of the same phase
// kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::graph {

enum class Phase : std::uint8_t { kDecode, kPrefill, kBlockDiffusion };

// What a config says, normalised over the families' spellings.
struct ModelConfig {
  std::string family;  // llama | qwen3 | glm4_moe | llada2_moe
  std::int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0;
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false, qkv_bias = false, output_bias = false, qk_norm = false;
  double norm_eps = 1e-6, rope_theta = 1e4;
  std::int64_t rotary_dim = 0;
  std::string rope_scaling;  // "" or "llama3"
  double rope_factor = 1, rope_low_freq = 1, rope_high_freq = 4;
  std::int64_t rope_original_max = 0;
  // Mixture of experts; experts == 0: dense throughout.
  std::int64_t experts = 0, experts_per_token = 0, shared_experts = 0, expert_intermediate = 0;
  std::int64_t dense_layers_first = 0, groups = 1, top_groups = 1, mtp_layers = 0;
  bool renormalise = false, router_bias = false;
  double routed_scale = 1;
  std::string router_function = "softmax";
  DType dtype = DType::kBF16;
};

struct ImportOptions {
  std::int64_t tensor_parallel = 1;
  std::int64_t layers = 0;  // 0: all; otherwise the first n
  Phase phase = Phase::kDecode;
  DType dtype = DType::kBF16;  // of weights and activations
};

// `source` names the file in errors: "glm.json: key 'num_attention_heads' ...".
Result<ModelConfig> parse_model_config(std::string_view json, const std::string& source);

// Errors: dims that the ranks can't share are kInvalidArgument and name dim, value and remedy.
Result<Graph> build_model_graph(const ModelConfig& config, const ImportOptions& options);

// Parameters of the whole model over all ranks, each weight once; with the multi-token-prediction
// layers (their embedding and head are the model's own) when asked.
std::int64_t parameter_count(const ModelConfig& config, bool with_mtp);

std::vector<std::string> supported_families();

}  // namespace fusefarm::graph
