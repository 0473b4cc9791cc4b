#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graph/model_import.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

using nlohmann::json;

// A valid config with keys changed (null erases) as the importer sees it.
Result<ModelConfig> parsed(const std::string& name, const json& changes) {
  json config = json::parse(config_text(name));
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      config.erase(key);
    } else {
      config[key] = value;
    }
  }
  return parse_model_config(config.dump(2), "m.json");
}

void expect_refused(const Result<ModelConfig>& result, const std::vector<std::string>& words) {
  ASSERT_FALSE(result.ok());
  for (const std::string& word : words) {
    EXPECT_NE(result.error().message.find(word), std::string::npos)
        << "no '" << word << "' in: " << result.error().message;
  }
}

TEST(ModelConfigTest, ReadsEachFamilyByItsOwnSpelling) {
  const ModelConfig qwen = config_of("qwen3-0.6b");
  EXPECT_EQ(qwen.family, "qwen3");
  EXPECT_EQ(qwen.hidden, 1024);
  EXPECT_EQ(qwen.layers, 28);
  EXPECT_EQ(qwen.vocabulary, 151936);
  EXPECT_TRUE(qwen.tied_embeddings);
  EXPECT_TRUE(qwen.qk_norm);
  EXPECT_FALSE(qwen.qkv_bias);
  EXPECT_EQ(qwen.rotary_dim, 128);
  EXPECT_EQ(qwen.experts, 0);

  const ModelConfig glm = config_of("glm-4.7");
  EXPECT_EQ(glm.rotary_dim, 64);
  EXPECT_TRUE(glm.qkv_bias);
  EXPECT_FALSE(glm.output_bias);
  EXPECT_TRUE(glm.router_bias);
  EXPECT_EQ(glm.router_function, "sigmoid");
  EXPECT_EQ(glm.mtp_layers, 1);
  EXPECT_EQ(glm.dense_layers_first, 3);

  const ModelConfig llada = config_of("llada2-flash");
  EXPECT_EQ(llada.family, "llada2_moe");
  EXPECT_EQ(llada.groups, 8);
  EXPECT_EQ(llada.top_groups, 4);
  EXPECT_TRUE(llada.qk_norm);
  EXPECT_FALSE(llada.qkv_bias);

  const ModelConfig llama = config_of("llama-3-8b");
  EXPECT_EQ(llama.head_dim, 128);  // hidden / heads
  EXPECT_FALSE(llama.qk_norm);
}

TEST(ModelConfigTest, TheTrainingAliasOfLladaIsTheSameFamily) {
  const auto alias = parsed("llada2-flash", {{"model_type", "llada2_moe_veomni"}});
  ASSERT_TRUE(alias.ok()) << alias.error().message;
  EXPECT_EQ(alias->family, "llada2_moe");
}

TEST(ModelConfigTest, OtherFamiliesAreRefusedByNameWithWhatIsSupported) {
  for (const char* type : {"qwen3_moe", "mixtral", "gemma2", "gpt_oss", "deepseek_v3", "mamba2"}) {
    expect_refused(parsed("qwen3-0.6b", {{"model_type", type}}),
                   {"m.json:", "'model_type'", type, "llama, qwen3, glm4_moe, llada2_moe"});
  }
  expect_refused(parse_model_config(config_text("qwen3-30b-a3b"), "m.json"), {"qwen3_moe"});
  expect_refused(parse_model_config(R"({"_class_name": "UNet2DConditionModel"})", "m.json"),
                 {"m.json:1", "'_class_name'", "UNet2DConditionModel", "supported families"});
  expect_refused(parse_model_config(R"({"hidden_size": 8})", "m.json"),
                 {"'model_type'", "missing"});
}

TEST(ModelConfigTest, ModelTypeAndArchitectureMustAgree) {
  expect_refused(parsed("llama-3-8b", {{"architectures", {"LlamaForSequenceClassification"}}}),
                 {"'architectures'", "LlamaForSequenceClassification"});
  expect_refused(parsed("llama-3-8b", {{"architectures", {"Qwen3ForCausalLM"}}}),
                 {"'architectures'"});
  EXPECT_TRUE(parsed("llama-3-8b", {{"architectures", nullptr}}).ok());
  EXPECT_TRUE(parsed("llama-3-8b", {{"model_type", nullptr}}).ok());
}

TEST(ModelConfigTest, EveryRequiredNumberIsNamedWithItsLineWhenItIsWrong) {
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads",
                          "intermediate_size", "vocab_size", "moe_intermediate_size",
                          "n_routed_experts", "num_experts_per_tok", "num_key_value_heads"}) {
    expect_refused(parsed("glm-4.7", {{key, nullptr}}), {key, "missing"});
    for (const json& bad : {json("8"), json(-8), json(0), json(1e18), json(1.5), json(true),
                            json(std::uint64_t{1} << 63), json("Infinity")}) {
      expect_refused(parsed("glm-4.7", {{key, bad}}), {"m.json:", key, "whole number"});
    }
  }
  expect_refused(parsed("glm-4.7", {{"rms_norm_eps", 0}}), {"rms_norm_eps", "positive"});
  expect_refused(parsed("glm-4.7", {{"rope_theta", "1e6"}}), {"rope_theta"});
  expect_refused(parsed("glm-4.7", {{"attention_bias", "yes"}}),
                 {"attention_bias", "true or false"});
}

TEST(ModelConfigTest, TextThatIsNotJsonSaysWhere) {
  expect_refused(parse_model_config("{\"a\": 1,\n \"b\": }", "m.json"), {"m.json", "line 2"});
  expect_refused(parse_model_config("", "m.json"), {"m.json", "not valid JSON"});
  expect_refused(parse_model_config("[1]", "m.json"), {"m.json", "one JSON object"});
  expect_refused(parse_model_config("{\"a\": 1,\n\"a\": 2}", "m.json"), {"'a'", "twice"});
  std::string deep(1000, '[');
  expect_refused(parse_model_config(deep + std::string(1000, ']'), "m.json"), {"nested"});
}

TEST(ModelConfigTest, PythonsInfinityDoesNotHideTheFamily) {
  expect_refused(parse_model_config(
                     R"({"model_type": "mamba2", "time_step_limit": [0.0, Infinity]})", "m.json"),
                 {"mamba2", "supported families"});
  json config = json::parse(config_text("llama-3-8b"));
  std::string text = config.dump();
  text.insert(1, R"("rms_norm_eps_max": -Infinity, )");
  expect_refused(parse_model_config(text, "m.json"), {"rms_norm_eps_max"});
}

TEST(ModelConfigTest, FeaturesTheGraphWouldNotHaveAreRefused) {
  expect_refused(parsed("llama-3-8b", {{"hidden_act", "gelu"}}), {"hidden_act", "gelu"});
  expect_refused(parsed("llama-3-8b", {{"mlp_bias", true}}), {"mlp_bias"});
  expect_refused(parsed("llama-3-8b", {{"sliding_window", 4096}}), {"sliding_window"});
  expect_refused(parsed("qwen3-0.6b", {{"sliding_window", 4096}, {"use_sliding_window", true}}),
                 {"sliding_window"});
  EXPECT_TRUE(parsed("qwen3-0.6b", {{"sliding_window", 4096}, {"use_sliding_window", false}}).ok());
  expect_refused(parsed("qwen3-0.6b", {{"layer_types", {"full_attention", "sliding_attention"}}}),
                 {"layer_types"});
  expect_refused(parsed("llama-3-8b", {{"quantization_config", {{"quant_method", "fp8"}}}}),
                 {"quantization_config"});
  expect_refused(parsed("llada2-flash", {{"score_function", "softmax"}}), {"score_function"});
  expect_refused(parsed("llada2-flash", {{"norm_head", true}}), {"norm_head"});
  expect_refused(parsed("llada2-flash", {{"use_bias", true}}), {"use_bias"});
  expect_refused(parsed("llama-3-8b", {{"attn_logit_softcapping", 50.0}}),
                 {"attn_logit_softcapping", "may change"});
  EXPECT_TRUE(parsed("llama-3-8b", {{"attn_logit_softcapping", 0}}).ok());
  expect_refused(parsed("llama-3-8b", {{"partial_rotary_factor", 0.5}}), {"partial_rotary_factor"});
}

TEST(ModelConfigTest, RopeScalingIsReadOrRefused) {
  const json scaling{{"rope_type", "llama3"},
                     {"factor", 8.0},
                     {"low_freq_factor", 1.0},
                     {"high_freq_factor", 4.0},
                     {"original_max_position_embeddings", 8192}};
  const auto scaled = parsed("llama-3-8b", {{"rope_scaling", scaling}});
  ASSERT_TRUE(scaled.ok()) << scaled.error().message;
  EXPECT_EQ(scaled->rope_scaling, "llama3");
  EXPECT_EQ(scaled->rope_factor, 8.0);
  EXPECT_EQ(scaled->rope_original_max, 8192);
  expect_refused(parsed("llama-3-8b", {{"rope_scaling", {{"type", "yarn"}, {"factor", 40}}}}),
                 {"rope_scaling", "yarn", "llama3"});
  expect_refused(parsed("llama-3-8b", {{"rope_scaling", {{"rope_type", "llama3"}}}}), {"factor"});
  const auto nested =
      parsed("qwen3-0.6b", {{"rope_theta", nullptr},
                            {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e6}}}});
  ASSERT_TRUE(nested.ok()) << nested.error().message;
  EXPECT_EQ(nested->rope_theta, 5e6);
  expect_refused(parsed("qwen3-0.6b", {{"rope_parameters", {{"rope_theta", 5e6}}}}),
                 {"rope_theta", "contradicts"});
}

TEST(ModelConfigTest, ContradictionsBetweenKeysAreRefused) {
  expect_refused(parsed("llada2-flash", {{"rotary_dim", 32}}), {"rotary_dim", "contradicts"});
  expect_refused(parsed("llama-3-8b", {{"num_key_value_heads", 5}}), {"num_key_value_heads"});
  expect_refused(parsed("llada2-flash", {{"n_group", 7}}), {"n_group"});
  expect_refused(parsed("llada2-flash", {{"topk_group", 9}}), {"topk_group"});
  expect_refused(parsed("tiny-diffusion-moe", {{"num_experts_per_tok", 9}}),
                 {"num_experts_per_tok"});
  expect_refused(parsed("llama-3-8b", {{"num_attention_heads", 24}, {"num_key_value_heads", 8}}),
                 {"head_dim", "hidden_size"});
}

TEST(ModelConfigTest, LlamasAttentionBiasCoversTheOutputProjectionAndGlmsDoesNot) {
  const auto llama = parsed("llama-3-8b", {{"attention_bias", true}});
  ASSERT_TRUE(llama.ok());
  EXPECT_TRUE(llama->qkv_bias);
  EXPECT_TRUE(llama->output_bias);
  EXPECT_FALSE(config_of("glm-4.7").output_bias);
}

}  // namespace
}  // namespace fusefarm::graph
