#include "tests/fakes/tiny_model.h"

#include "base/files.h"
#include "graph/model_import.h"

namespace fusefarm::fakes {

std::string tiny_config_json() {
  return R"({
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 128, "vocab_size": 512,
    "tie_word_embeddings": true, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "hidden_act": "silu", "attention_bias": false, "torch_dtype": "bfloat16"})";
}

graph::Graph tiny_graph(std::int64_t layers) {
  const graph::ModelConfig config = graph::parse_model_config(tiny_config_json(), "tiny").take();
  graph::ImportOptions options;
  options.layers = layers;
  options.phase = graph::Phase::kPrefill;
  return graph::build_model_graph(config, options).take();
}

std::vector<Workload> tiny_workloads() {
  return {{"decode", graph::Phase::kDecode, 4, 64, 4, 0.7},
          {"prefill", graph::Phase::kPrefill, 1, 64, 16, 0.3}};
}

CampaignSpec tiny_campaign(const std::string& folder) {
  CampaignSpec spec;
  spec.name = "tiny";
  spec.model_config = folder + "/config.json";
  write_file_atomically(spec.model_config, tiny_config_json()).take();
  spec.layers = 2;
  spec.workloads = tiny_workloads();
  spec.threads = 2;
  spec.search.phases = 2;
  spec.search.seed = 1;
  spec.search.region_nodes_max = 3;
  spec.search.regions_per_phase = 6;
  spec.search.plans_per_round = 4;
  spec.store_path = folder + "/history.db";
  spec.output_folder = folder + "/out";
  return spec;
}

}  // namespace fusefarm::fakes
