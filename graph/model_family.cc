#include "graph/model_family.h"

#include <array>

#include "base/text.h"
#include "graph/strict_json.h"

namespace fusefarm::graph {
namespace {

struct Spelling {
  const char* model_type;
  const char* architecture;
  const char* family;
};

constexpr std::array<Spelling, 5> kSpellings{{
    {"llama", "LlamaForCausalLM", "llama"},
    {"qwen3", "Qwen3ForCausalLM", "qwen3"},
    {"glm4_moe", "Glm4MoeForCausalLM", "glm4_moe"},
    {"llada2_moe", "LLaDA2MoeModelLM", "llada2_moe"},
    {"llada2_moe_veomni", "LLaDA2MoeModelLM", "llada2_moe"},  // the same model, training code
}};

std::string supported() {
  return "supported families: " + join(supported_families(), ", ") +
         " (decoder language models, one config.json each)";
}

Error not_supported(ConfigReader& reader, const std::string& key) {
  return reader.wrong(key, "not a supported model; " + supported(), ErrorCode::kUnsupported);
}

// The name of the architecture, or "" when the key is absent.
Result<std::string> architecture_of(ConfigReader& reader) {
  const nlohmann::json& given = reader.value("architectures");
  if (given.is_null()) {
    return std::string();
  }
  if (!given.is_array() || given.size() != 1 || !given.front().is_string()) {
    return reader.wrong("architectures", "expected a list of one name; " + supported());
  }
  return given.front().get<std::string>();
}

}  // namespace

std::vector<std::string> supported_families() {
  return {"llama", "qwen3", "glm4_moe", "llada2_moe"};
}

Result<std::string> model_family(ConfigReader& reader) {
  if (reader.has("_class_name")) {
    return not_supported(reader, "_class_name");
  }
  const std::string type = TRY(reader.text("model_type", ""));
  const std::string architecture = TRY(architecture_of(reader));
  if (type.empty() && architecture.empty()) {
    return reader.wrong("model_type",
                        "so is 'architectures': this is not a model config; " + supported());
  }
  for (const Spelling& known : kSpellings) {
    const bool type_matches = type == known.model_type;
    const bool architecture_matches = architecture == known.architecture;
    if (type_matches && (architecture_matches || architecture.empty())) {
      return std::string(known.family);
    }
    if (type.empty() && architecture_matches) {
      return std::string(known.family);
    }
    if (type_matches) {
      return not_supported(reader, "architectures");
    }
  }
  return not_supported(reader, type.empty() ? "architectures" : "model_type");
}

Result<void> refuse_unsupported(ConfigReader& reader, const ModelConfig& config) {
  TRY(reader.require("quantization_config", nullptr,
                     "quantised checkpoints are not supported; use the config of the bf16 model"));
  TRY(reader.require("hidden_act", "silu", "only the gated silu MLP is supported"));
  TRY(reader.require("is_encoder_decoder", false, "only decoder models are supported"));
  TRY(reader.require("mlp_bias", false, "biases in the MLP are not supported"));
  TRY(reader.require("use_bias", false,
                     "biases in the output projection and the MLP are not "
                     "supported for this family"));
  TRY(reader.require("norm_head", false, "a normalised head is not supported"));
  TRY(reader.require("use_rmsnorm", true, "only RMS norm is supported"));
  const bool window_used = TRY(reader.boolean("use_sliding_window", config.family != "qwen3"));
  if (reader.has("sliding_window") && window_used) {
    return reader.wrong("sliding_window", "attention windows are not supported",
                        ErrorCode::kUnsupported);
  }
  const nlohmann::json& layer_types = reader.value("layer_types");
  if (layer_types.is_null()) {
    return {};
  }
  for (const nlohmann::json& type : layer_types) {
    if (type != "full_attention") {
      return reader.wrong("layer_types",
                          "only 'full_attention' layers are supported, one is " + shown(type),
                          ErrorCode::kUnsupported);
    }
  }
  return {};
}

Result<void> read_attention(ConfigReader& reader, ModelConfig& config) {
  const bool llama = config.family == "llama";
  config.heads = TRY(reader.integer("num_attention_heads", 4096));
  config.kv_heads = TRY(reader.integer("num_key_value_heads", 4096,
                                       llama ? std::optional(config.heads) : std::nullopt));
  if (config.heads % config.kv_heads != 0) {
    return reader.wrong("num_key_value_heads", "it must divide num_attention_heads (" +
                                                   std::to_string(config.heads) + ")");
  }
  if (reader.has("head_dim")) {
    config.head_dim = TRY(reader.integer("head_dim", 1024));
  } else if (config.hidden % config.heads == 0 && (config.hidden / config.heads) <= 1024) {
    config.head_dim = config.hidden / config.heads;
  } else {
    return reader.wrong("head_dim", "num_attention_heads (" + std::to_string(config.heads) +
                                        ") does not divide hidden_size (" +
                                        std::to_string(config.hidden) + "); give it");
  }
  if (config.family == "llada2_moe") {
    config.qkv_bias = TRY(reader.boolean("use_qkv_bias", false));
    config.qk_norm = TRY(reader.boolean("use_qk_norm", true));
    return {};
  }
  config.qkv_bias = TRY(reader.boolean("attention_bias", false));
  // glm4_moe's key speaks of q, k and v only.
  config.output_bias = config.qkv_bias && config.family != "glm4_moe";
  if (config.family == "glm4_moe") {
    config.qk_norm = TRY(reader.boolean("use_qk_norm", false));
  } else {
    config.qk_norm = config.family == "qwen3";
  }
  return {};
}

Result<void> read_experts(ConfigReader& reader, ModelConfig& config) {
  const bool glm = config.family == "glm4_moe";
  if (!glm && config.family != "llada2_moe") {
    return {};
  }
  config.experts = TRY(reader.integer(glm ? "n_routed_experts" : "num_experts", 4096));
  config.experts_per_token = TRY(reader.integer("num_experts_per_tok", config.experts));
  config.shared_experts =
      TRY(reader.integer(glm ? "n_shared_experts" : "num_shared_experts", 64, std::nullopt, true));
  config.expert_intermediate = TRY(reader.integer("moe_intermediate_size", 1 << 17));
  config.dense_layers_first =
      TRY(reader.integer("first_k_dense_replace", config.layers, std::nullopt, true));
  config.groups = TRY(reader.integer("n_group", config.experts, 1));
  config.top_groups = TRY(reader.integer("topk_group", config.groups, 1));
  config.mtp_layers = TRY(reader.integer("num_nextn_predict_layers", 16, 0, true));
  config.renormalise = TRY(reader.boolean("norm_topk_prob", true));
  config.routed_scale = TRY(reader.real("routed_scaling_factor", 1.0));
  config.router_function = "sigmoid";
  config.router_bias = glm || TRY(reader.boolean("moe_router_enable_expert_bias", false));
  TRY(reader.require(glm ? "scoring_func" : "score_function", "sigmoid",
                     "only the sigmoid router is supported for this family"));
  TRY(reader.require("topk_method", "noaux_tc", "only 'noaux_tc' is supported"));
  TRY(reader.require("moe_layer_freq", 1, "only 1 is supported"));
  TRY(reader.require("router_dtype", "fp32", "only an fp32 router is supported"));
  if (reader.has("moe_shared_expert_intermediate_size")) {
    TRY(reader.require("moe_shared_expert_intermediate_size", config.expert_intermediate,
                       "shared experts of another width than moe_intermediate_size are not "
                       "supported"));
  }
  const std::int64_t group_size = config.experts / config.groups;
  if (config.experts % config.groups != 0 || (config.groups > 1 && group_size < 2)) {
    return reader.wrong("n_group", "it must cut the " + std::to_string(config.experts) +
                                       " experts into equal groups of at least two");
  }
  if (config.experts_per_token > group_size * config.top_groups) {
    return reader.wrong("num_experts_per_tok", "topk_group groups hold only " +
                                                   std::to_string(group_size * config.top_groups) +
                                                   " experts");
  }
  return {};
}

}  // namespace fusefarm::graph
