#include "tests/worker/tiny_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "graph/model_import.h"

namespace fusefarm::worker {
namespace {

constexpr const char* kConfig = R"({
  "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
  "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 512, "vocab_size": 2048,
  "tie_word_embeddings": true, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
  "hidden_act": "silu", "attention_bias": false, "torch_dtype": "bfloat16"})";

}  // namespace

std::shared_ptr<const graph::Graph> tiny_model() {
  const auto config = graph::parse_model_config(kConfig, "tiny");
  EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().message);
  graph::ImportOptions options;
  options.phase = graph::Phase::kPrefill;
  auto graph = graph::build_model_graph(*config, options);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return std::make_shared<const graph::Graph>(graph.take());
}

Workload tiny_decode() {
  Workload workload;
  workload.name = "decode";
  workload.batch = workload.tokens = 4;
  workload.context = 64;
  workload.weight = 0.7;
  return workload;
}

Workload tiny_prefill() {
  Workload workload;
  workload.name = "prefill";
  workload.phase = graph::Phase::kPrefill;
  workload.tokens = workload.context = 24;
  workload.weight = 0.3;
  return workload;
}

ScreenJob tiny_region(const std::shared_ptr<const graph::Graph>& model,
                      const std::vector<graph::OpKind>& ops, const Workload& workload) {
  ScreenJob job;
  job.model = model;
  job.workload = workload;
  graph::EnumerateOptions options;
  options.nodes_max = static_cast<int>(ops.size());
  options.may_contain = [&](const graph::Node& node) {
    return std::ranges::find(ops, node.op) != ops.end() || graph::is_view(node.op);
  };
  for (const graph::NodeSet& set : graph::enumerate_regions(*model, options)) {
    std::vector<graph::OpKind> found;
    for (const graph::NodeId id : set.nodes) {
      found.push_back(model->node(id).op);
    }
    if (!std::ranges::is_permutation(found, ops)) {
      continue;
    }
    const graph::Graph region = graph::extract_region(*model, set.nodes).take();
    graph::Canonical canonical = graph::canonicalise(region);
    job.region = std::make_shared<const graph::Graph>(std::move(canonical.graph));
    job.incumbent = job.region;
    job.signature = canonical.signature;
    job.tensor_of = std::move(canonical.tensor_of);
    return job;
  }
  ADD_FAILURE() << "the tiny model has no such region";
  return job;
}

}  // namespace fusefarm::worker
