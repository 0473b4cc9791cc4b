#include "tests/verify/region_fixture.h"

#include <algorithm>
#include <stdexcept>

#include "graph/graph_io.h"
#include "graph/model_import.h"
#include "graph/region.h"
#include "verify/distributions.h"

namespace fusefarm::verify {
namespace {

constexpr const char* kDense = R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
  "hidden_size": 512, "num_hidden_layers": 1, "num_attention_heads": 8, "num_key_value_heads": 4,
  "head_dim": 128, "intermediate_size": 1536, "vocab_size": 2048, "tie_word_embeddings": true,
  "rms_norm_eps": 1e-6, "rope_theta": 1000000, "hidden_act": "silu", "attention_bias": false,
  "max_position_embeddings": 40960, "torch_dtype": "bfloat16"})";

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(result.error().message);
  }
  return result.take();
}

graph::Graph import(const std::string& json, graph::Phase phase, graph::DType dtype) {
  const graph::ModelConfig config = must(graph::parse_model_config(json, "test.json"));
  graph::ImportOptions options;
  options.phase = phase;
  options.dtype = dtype;
  return must(graph::build_model_graph(config, options));
}

// The same for every region of a model; filled once.
std::span<const std::byte> weights_of(const graph::Graph& model, const graph::WeightLayout& layout,
                                      const graph::Bindings& bindings) {
  static std::map<std::string, std::vector<std::byte>> filled;
  std::vector<std::byte>& weights = filled[graph::to_json(model)];
  if (weights.empty()) {
    weights.resize(static_cast<std::size_t>(layout.bytes));
    fill_weights(model, layout, bindings, 7, weights, 2);
  }
  return weights;
}

}  // namespace

graph::Graph dense_model(graph::Phase phase, graph::DType dtype) {
  return import(kDense, phase, dtype);
}

graph::Graph moe_model(graph::DType dtype) {
  graph::ModelConfig config = must(graph::parse_model_config(kDense, "test.json"));
  config.family = "glm4_moe";
  config.hidden = 128;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 32;
  config.rotary_dim = 16;
  config.vocabulary = 256;
  config.experts = 16;
  config.experts_per_token = 4;
  config.shared_experts = 1;
  config.expert_intermediate = 64;
  config.groups = 4;
  config.top_groups = 2;
  config.renormalise = true;
  config.router_bias = true;
  config.routed_scale = 2.5;
  config.router_function = "sigmoid";
  graph::ImportOptions options;
  options.dtype = dtype;
  return must(graph::build_model_graph(config, options));
}

graph::Bindings decode_bindings() { return {4, 4, 96, 4}; }

graph::Bindings prefill_bindings() { return {6, 1, 32, 1}; }

const std::vector<RegionClass>& dense_classes() {
  static const std::vector<RegionClass> kClasses{
      {"add_rmsnorm", {"attention_residual", "post_attention_layernorm"}},
      {"k_norm_rope_kv_write", {"k_norm", "k_rope", "kv_write"}},
      {"qk_norm_rope_kv_write", {"qkv_split", "q_norm", "k_norm", "q_rope", "k_rope", "kv_write"}},
      {"attention", {"kv_write", "self_attn.attention"}},
      {"rope_attention", {"q_rope", "k_rope", "kv_write", "self_attn.attention"}},
      {"silu_mul", {"silu_mul"}},
      {"gate_up_silu_mul", {"gate_up_proj", "silu_mul"}},
      {"norm_gate_up_silu_mul", {"post_attention_layernorm", "gate_up_proj", "silu_mul"}},
      {"down_residual", {"down_proj", "mlp_residual"}},
      {"mlp",
       {"post_attention_layernorm", "gate_up_proj", "silu_mul", "down_proj", "mlp_residual"}},
      {"norm_qkv_norm_rope",
       {"input_layernorm", "qkv_proj", "qkv_split", "q_norm", "k_norm", "q_rope", "k_rope"}},
      {"o_proj_residual", {"o_proj", "attention_residual"}},
      {"lm_head_argmax", {"lm_head", "argmax"}},
      {"norm_lm_head_argmax", {"norm", "lm_head", "argmax"}},
      {"embedding_norm", {"embed_tokens", "input_layernorm"}}};
  return kClasses;
}

graph::Graph region_of(const graph::Graph& model, const RegionClass& region_class) {
  std::vector<graph::NodeId> nodes;
  const auto has = [&](const std::string& name) {
    return std::count(region_class.nodes.begin(), region_class.nodes.end(), name) > 0;
  };
  for (const graph::Node& node : model.nodes()) {
    // Prefill picks the rows that need logits between the two.
    if (node.op == graph::OpKind::kSelectRows && has("norm") && has("lm_head")) {
      nodes.push_back(node.id);
    }
  }
  for (const std::string& name : region_class.nodes) {
    const std::size_t before = nodes.size();
    for (const graph::Node& node : model.nodes()) {
      const bool whole = node.name == name;
      const bool suffix = node.name.size() > name.size() && node.name.ends_with("." + name);
      if (whole || suffix) {
        nodes.push_back(node.id);
      }
    }
    if (nodes.size() == before) {
      throw std::runtime_error("no node " + name);
    }
  }
  return must(graph::extract_region(model, nodes));
}

RegionCase::RegionCase(const graph::Graph& model, graph::Graph region, graph::Bindings bindings,
                       InputSpec spec)
    : region_(std::move(region)), bindings_(bindings), spec_(spec) {
  layout_ = graph::boundary_layout(region_, bindings_);
  weight_layout_ = graph::weight_layout(model, bindings_);
  weights_ = weights_of(model, weight_layout_, bindings_);
  pristine_.resize(static_cast<std::size_t>(layout_.bytes));
  const Result<void> filled = fill_image(region_, bindings_, layout_, spec_, pristine_);
  if (!filled.ok()) {
    throw std::runtime_error(filled.error().message);
  }
  EvaluateOptions options;
  options.threads = 2;
  oracle_ = must(evaluate(region_, bindings_, inputs(), options));
}

TensorValues RegionCase::inputs() const {
  return must(view_inputs(region_, bindings_, layout_, pristine_, weight_layout_, {}, weights_));
}

std::vector<std::byte> RegionCase::image_of(const EngineOptions& engine) const {
  const Elements elements = run_reference(region_, bindings_, inputs(), engine);
  std::vector<std::byte> image = pristine_;
  for (const graph::TensorId id : region_.outputs) {
    const graph::DType dtype = region_.tensor(id).dtype;
    const auto part = std::span(image).subspan(static_cast<std::size_t>(layout_.offset.at(id)));
    const std::vector<double>& values = elements.at(id);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dtype == graph::DType::kI32) {
        store_integer(part, i, static_cast<std::int32_t>(values[i]));
      } else {
        store_element(part, dtype, i, values[i]);
      }
    }
  }
  return image;
}

Comparison RegionCase::comparison(const std::vector<std::byte>& image) const {
  Comparison c;
  c.graph = &region_;
  c.bindings = bindings_;
  c.layout = &layout_;
  c.oracle = &oracle_;
  c.spec = spec_;
  c.pristine = pristine_;
  c.image = image;
  return c;
}

CorrectnessRecord RegionCase::compare(const std::vector<std::byte>& image) const {
  return compare_outputs(comparison(image));
}

}  // namespace fusefarm::verify
