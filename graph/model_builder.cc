#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/graph_builder.h"
#include "graph/model_import.h"
#include "graph/shard.h"

namespace fusefarm::graph {
namespace {

// Correction biases of trained routers are small against sigmoid scores.
constexpr double kRouterBiasScale = 0.01;

class ModelBuilder {
 public:
  ModelBuilder(const ModelConfig& config, const ImportOptions& options, const Shard& shard)
      : config_(config), options_(options), shard_(shard), b_(graph_, options.dtype) {}

  Graph build();

 private:
  TensorId embed();
  TensorId decoder_layer(TensorId hidden, std::int32_t layer);
  TensorId attention(TensorId normed);
  TensorId dense_mlp(const std::string& name, TensorId normed, std::int64_t intermediate);
  TensorId experts(TensorId normed);
  std::pair<TensorId, TensorId> route(TensorId normed);
  TensorId rotate(const std::string& name, TensorId heads);
  TensorId reduce(const std::string& name, TensorId partial);
  void head(TensorId hidden);

  const ModelConfig& config_;
  const ImportOptions& options_;
  const Shard& shard_;
  Graph graph_;
  GraphBuilder b_;
  TensorId positions_ = kNone, slots_ = kNone, table_ = kNone;
  std::vector<std::pair<TensorId, TensorId>> caches_;  // k and v, a pair a layer
  std::vector<TensorId> final_states_;
};

Graph ModelBuilder::build() {
  const std::int64_t layers =
      options_.layers == 0 ? config_.layers : std::min(options_.layers, config_.layers);
  const TensorId ids = b_.input("token_ids", DType::kI32, {tokens()});
  positions_ = b_.input("positions", DType::kI32, {tokens()});
  slots_ = b_.input("slots", DType::kI32, {tokens()});
  const Dim slots{Symbol::kSlots, 1};
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    b_.enter_layer(layer);
    const std::vector<Dim> shape{slots, fixed(shard_.kv_heads), fixed(config_.head_dim)};
    const TensorId k = b_.state("k_cache", shape);
    caches_.emplace_back(k, b_.state("v_cache", shape));
  }
  b_.enter_layer(kNone);
  table_ = b_.matrix("embed_tokens.weight", b_.dtype(), {shard_.vocabulary, config_.hidden});
  TensorId hidden =
      b_.op(OpKind::kEmbedding, "embed_tokens", {ids, table_}, {tokens(), fixed(config_.hidden)},
            Attrs().set("vocab_begin", std::int64_t{0}));
  hidden = reduce("embed_tokens.all_reduce", hidden);
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    hidden = decoder_layer(hidden, layer);
  }
  b_.enter_layer(kNone);
  head(hidden);
  graph_.outputs.insert(graph_.outputs.end(), final_states_.begin(), final_states_.end());
  return std::move(graph_);
}

TensorId ModelBuilder::decoder_layer(TensorId hidden, std::int32_t layer) {
  b_.enter_layer(layer);
  const TensorId attended = attention(b_.rms_norm("input_layernorm", hidden, config_.norm_eps));
  const TensorId middle = b_.add("attention_residual", hidden, attended);
  const TensorId normed = b_.rms_norm("post_attention_layernorm", middle, config_.norm_eps);
  const bool dense = config_.experts == 0 || layer < config_.dense_layers_first;
  const TensorId partial = dense ? dense_mlp("mlp.", normed, shard_.intermediate) : experts(normed);
  return b_.add("mlp_residual", middle, reduce("mlp.all_reduce", partial));
}

TensorId ModelBuilder::attention(TensorId normed) {
  const std::int64_t q = shard_.heads;
  const std::int64_t kv = shard_.kv_heads;
  const std::int64_t dim = config_.head_dim;
  const TensorId qkv =
      b_.linear("self_attn.qkv_proj", normed, (q + 2 * kv) * dim, config_.qkv_bias);
  const std::string split = "self_attn.qkv_split";
  TensorId query = b_.activation(split + ".q", b_.dtype(), {tokens(), fixed(q), fixed(dim)});
  TensorId key = b_.activation(split + ".k", b_.dtype(), {tokens(), fixed(kv), fixed(dim)});
  const TensorId value = b_.activation(split + ".v", b_.dtype(), {tokens(), fixed(kv), fixed(dim)});
  b_.node(OpKind::kSplit, split, {qkv}, {query, key, value});
  if (config_.qk_norm) {
    query = b_.rms_norm("self_attn.q_norm", query, config_.norm_eps);
    key = b_.rms_norm("self_attn.k_norm", key, config_.norm_eps);
  }
  query = rotate("self_attn.q_rope", query);
  key = rotate("self_attn.k_rope", key);

  const auto [k_cache, v_cache] = caches_[final_states_.size() / 2];
  const std::string write = "self_attn.kv_write";
  const Tensor cache = b_.graph().tensor(k_cache);
  const auto written = [&](const char* name) {
    const TensorId id = b_.written_state(write + name, cache);
    final_states_.push_back(id);
    return id;
  };
  const TensorId keys = written(".k_cache");
  const TensorId values = written(".v_cache");
  b_.node(OpKind::kKvWrite, write, {key, value, slots_, k_cache, v_cache}, {keys, values}, {},
          {{0, 3}, {1, 4}});
  const bool causal = options_.phase != Phase::kBlockDiffusion;
  const TensorId context = b_.op(OpKind::kAttention, "self_attn.attention",
                                 {query, keys, values, positions_}, {tokens(), fixed(q * dim)},
                                 Attrs()
                                     .set("scale", 1.0 / std::sqrt(static_cast<double>(dim)))
                                     .set("causal", std::int64_t{causal ? 1 : 0}));
  const TensorId partial =
      b_.linear("self_attn.o_proj", context, config_.hidden, config_.output_bias);
  return reduce("self_attn.all_reduce", partial);
}

TensorId ModelBuilder::rotate(const std::string& name, TensorId heads) {
  Attrs attrs;
  attrs.set("theta", config_.rope_theta)
      .set("rotary_dim", config_.rotary_dim)
      .set("interleaved", std::int64_t{0});
  if (!config_.rope_scaling.empty()) {
    attrs.set("scaling", config_.rope_scaling)
        .set("scaling_factor", config_.rope_factor)
        .set("low_freq_factor", config_.rope_low_freq)
        .set("high_freq_factor", config_.rope_high_freq)
        .set("original_max_position", config_.rope_original_max);
  }
  return b_.op(OpKind::kRope, name, {heads, positions_}, b_.graph().tensor(heads).shape,
               std::move(attrs));
}

TensorId ModelBuilder::dense_mlp(const std::string& name, TensorId normed,
                                 std::int64_t intermediate) {
  const TensorId gate_up = b_.linear(name + "gate_up_proj", normed, 2 * intermediate, false);
  const TensorId activated = b_.silu_mul(name + "silu_mul", gate_up);
  return b_.linear(name + "down_proj", activated, config_.hidden, false);
}

// The router works in fp32 whatever the model's dtype: its cast is a declared rounding point.
std::pair<TensorId, TensorId> ModelBuilder::route(TensorId normed) {
  const Dim chosen = fixed(config_.experts_per_token);
  TensorId exact = normed;
  if (b_.dtype() != DType::kF32) {
    exact = b_.op(OpKind::kCast, "mlp.router_cast", {normed}, b_.graph().tensor(normed).shape,
                  DType::kF32);
  }
  std::vector<TensorId> inputs{b_.linear("mlp.router", exact, config_.experts, false)};
  if (config_.router_bias) {
    inputs.push_back(b_.weight("mlp.router.correction_bias", DType::kF32, {config_.experts},
                               Init::kSmall, kRouterBiasScale));
  }
  const std::string name = "mlp.router_select";
  const TensorId ids = b_.activation(name + ".ids", DType::kI32, {tokens(), chosen});
  const TensorId weights = b_.activation(name + ".weights", DType::kF32, {tokens(), chosen});
  b_.node(OpKind::kRouterSelect, name, std::move(inputs), {ids, weights},
          Attrs()
              .set("top_k", config_.experts_per_token)
              .set("groups", config_.groups)
              .set("top_groups", config_.top_groups)
              .set("renormalise", std::int64_t{config_.renormalise ? 1 : 0})
              .set("scale", config_.routed_scale)
              .set("function", config_.router_function));
  return {ids, weights};
}

TensorId ModelBuilder::experts(TensorId normed) {
  const std::int64_t k = config_.experts_per_token;
  const std::int64_t inner = shard_.expert_intermediate;
  const auto [ids, weights] = route(normed);
  const TensorId w13 = b_.matrix("mlp.experts.gate_up_proj.weight", b_.dtype(),
                                 {config_.experts, 2 * inner, config_.hidden});
  const TensorId gate_up = b_.op(OpKind::kExpertLinear, "mlp.experts.gate_up_proj",
                                 {normed, ids, w13}, {tokens(k), fixed(2 * inner)});
  const TensorId activated = b_.silu_mul("mlp.experts.silu_mul", gate_up);
  const TensorId w2 = b_.matrix("mlp.experts.down_proj.weight", b_.dtype(),
                                {config_.experts, config_.hidden, inner});
  const TensorId down = b_.op(OpKind::kExpertLinear, "mlp.experts.down_proj", {activated, ids, w2},
                              {tokens(k), fixed(config_.hidden)});
  const TensorId routed = b_.op(OpKind::kMoeFinalize, "mlp.experts.finalize", {down, weights},
                                {tokens(), fixed(config_.hidden)});
  if (config_.shared_experts == 0) {
    return routed;
  }
  const TensorId shared = dense_mlp("mlp.shared_experts.", normed, config_.shared_experts * inner);
  return b_.add("mlp.shared_add", routed, shared);
}

TensorId ModelBuilder::reduce(const std::string& name, TensorId partial) {
  if (shard_.ranks == 1) {
    return partial;
  }
  return b_.op(OpKind::kAllReduce, name, {partial}, b_.graph().tensor(partial).shape,
               Attrs().set("group", shard_.ranks));
}

void ModelBuilder::head(TensorId hidden) {
  TensorId rows = b_.rms_norm("norm", hidden, config_.norm_eps);
  if (options_.phase == Phase::kPrefill) {
    rows = b_.op(OpKind::kSelectRows, "select_rows", {rows},
                 {Dim{Symbol::kLogitRows, 1}, fixed(config_.hidden)});
  }
  const Dim count = b_.graph().tensor(rows).shape.front();
  const TensorId weight = config_.tied_embeddings ? table_
                                                  : b_.matrix("lm_head.weight", b_.dtype(),
                                                              {shard_.vocabulary, config_.hidden});
  TensorId logits =
      b_.op(OpKind::kLinear, "lm_head", {rows, weight}, {count, fixed(shard_.vocabulary)});
  if (shard_.ranks > 1) {
    logits = b_.op(OpKind::kAllGather, "lm_head.all_gather", {logits},
                   {count, fixed(config_.vocabulary)}, Attrs().set("group", shard_.ranks));
  }
  graph_.outputs = {b_.op(OpKind::kArgmax, "argmax", {logits}, {count}, DType::kI32)};
}

}  // namespace

Result<Graph> build_model_graph(const ModelConfig& config, const ImportOptions& options) {
  const Shard shard = TRY(shard_of(config, options.tensor_parallel));
  if (options.dtype == DType::kI32) {
    return Error{ErrorCode::kInvalidArgument, "dtype is i32: a model computes in bf16 or f32"};
  }
  if (options.layers < 0 || options.layers > config.layers) {
    return Error{ErrorCode::kInvalidArgument,
                 "layers is " + std::to_string(options.layers) + ": the model has " +
                     std::to_string(config.layers) + "; use 0 (all) to that many"};
  }
  if (options.phase == Phase::kBlockDiffusion && config.family != "llada2_moe") {
    return Error{ErrorCode::kInvalidArgument,
                 "phase is block diffusion: family '" + config.family +
                     "' decodes token by token; use decode or prefill, or a llada2_moe model"};
  }
  if (config.output_bias && shard.ranks > 1) {
    return Error{ErrorCode::kUnsupported,
                 "key 'attention_bias' is true: the output projection's bias would be added once a "
                 "rank; use one rank"};
  }
  return ModelBuilder(config, options, shard).build();
}

}  // namespace fusefarm::graph
