// A campaign on a model small enough for a test, with the real compiler, judge and executors.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/program.h"

namespace fusefarm::e2e {

class RunFixture : public ::testing::Test {
 protected:
  RunFixture() {
    const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = ::testing::TempDir() + "fusefarm_e2e_" + info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("model.json", R"({
      "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
      "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
      "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 768, "vocab_size": 4096,
      "tie_word_embeddings": true, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
      "hidden_act": "silu", "attention_bias": false, "torch_dtype": "bfloat16"})");
  }

  ~RunFixture() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  // A campaign file; `search` are the keys inside search: {...}.
  std::string campaign(const std::string& search) const {
    write("campaign.yaml",
          "campaign: tiny\n"
          "model: {config: model.json, layers: 2}\n"
          "workloads:\n"
          "  - {name: decode, phase: decode, batch: 4, context: 64, weight: 0.8}\n"
          "  - {name: prefill, phase: prefill, tokens: 32, weight: 0.2}\n"
          "search: {" +
              search +
              "}\n"
              "sandbox: degraded-ok\n"
              "store: {path: " +
              folder_ +
              "/history.db}\n"
              "output: {folder: " +
              folder_ + "/out}\n");
    return folder_ + "/campaign.yaml";
  }

  nlohmann::json report() const {
    std::ifstream file(folder_ + "/out/report.json");
    return nlohmann::json::parse(file, nullptr, false);
  }

  std::string folder_;
};

}  // namespace fusefarm::e2e
