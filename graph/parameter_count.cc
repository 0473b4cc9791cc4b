#include "graph/model_import.h"

namespace fusefarm::graph {
namespace {

std::int64_t attention_parameters(const ModelConfig& c) {
  const std::int64_t columns = (c.heads + 2 * c.kv_heads) * c.head_dim;
  std::int64_t count = columns * c.hidden + c.heads * c.head_dim * c.hidden;
  if (c.qkv_bias) {
    count += columns;
  }
  if (c.output_bias) {
    count += c.hidden;
  }
  if (c.qk_norm) {
    count += 2 * c.head_dim;
  }
  return count;
}

std::int64_t expert_parameters(const ModelConfig& c) {
  std::int64_t count = (c.experts + c.shared_experts) * 3 * c.hidden * c.expert_intermediate;
  count += c.experts * c.hidden;
  if (c.router_bias) {
    count += c.experts;
  }
  return count;
}

// Attention, MLP and the two norms before them.
std::int64_t layer_parameters(const ModelConfig& c, bool dense) {
  const std::int64_t mlp = dense ? 3 * c.hidden * c.intermediate : expert_parameters(c);
  return attention_parameters(c) + mlp + 2 * c.hidden;
}

}  // namespace

std::int64_t parameter_count(const ModelConfig& config, bool with_mtp) {
  const std::int64_t dense = config.experts == 0 ? config.layers : config.dense_layers_first;
  std::int64_t count = config.vocabulary * config.hidden * (config.tied_embeddings ? 1 : 2);
  count += config.hidden;  // the last norm
  count += dense * layer_parameters(config, true);
  if (dense < config.layers) {
    count += (config.layers - dense) * layer_parameters(config, false);
  }
  if (with_mtp) {
    // A decoder layer, the projection of [embedding, hidden] with the norms of both, a last norm.
    const std::int64_t joint = 2 * config.hidden * config.hidden + 3 * config.hidden;
    count += config.mtp_layers * (layer_parameters(config, config.experts == 0) + joint);
  }
  return count;
}

}  // namespace fusefarm::graph
