#include "tests/codegen/region_fixtures.h"

#include <utility>

namespace fusefarm::codegen::test {

using graph::Attrs;
using graph::Dim;
using graph::DType;
using graph::fixed;
using graph::OpKind;
using graph::TensorId;
using graph::tokens;

TensorId RegionBuilder::tensor(graph::TensorKind kind, DType dtype, std::vector<Dim> shape) {
  graph::Tensor tensor;
  tensor.kind = kind;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  return graph_.add_tensor(std::move(tensor));
}

TensorId RegionBuilder::input(std::vector<Dim> shape, DType dtype) {
  const auto kind =
      dtype == DType::kI32 ? graph::TensorKind::kInput : graph::TensorKind::kActivation;
  activations_.push_back(tensor(kind, dtype, std::move(shape)));
  return activations_.back();
}

TensorId RegionBuilder::weight(std::vector<Dim> shape, DType dtype) {
  weights_.push_back(tensor(graph::TensorKind::kWeight, dtype, std::move(shape)));
  return weights_.back();
}

TensorId RegionBuilder::state(std::vector<Dim> shape) {
  activations_.push_back(tensor(graph::TensorKind::kState, dtype_, std::move(shape)));
  return activations_.back();
}

TensorId RegionBuilder::op(OpKind kind, std::vector<TensorId> inputs, std::vector<Dim> shape,
                           DType dtype, Attrs attrs) {
  const TensorId out = tensor(graph::TensorKind::kActivation, dtype, std::move(shape));
  graph::Node node;
  node.op = kind;
  node.inputs = std::move(inputs);
  node.outputs = {out};
  node.attrs = std::move(attrs);
  graph_.add_node(std::move(node));
  return out;
}

TensorId RegionBuilder::add(TensorId a, TensorId b) {
  return op(OpKind::kAdd, {a, b}, graph_.tensor(a).shape, graph_.tensor(a).dtype);
}

TensorId RegionBuilder::norm(TensorId x) {
  const TensorId w = weight({graph_.tensor(x).shape.back()});
  return op(OpKind::kRmsNorm, {x, w}, graph_.tensor(x).shape, dtype_, Attrs().set("eps", 1e-6));
}

TensorId RegionBuilder::linear(TensorId x, std::int64_t n, bool bias) {
  const graph::Tensor in = graph_.tensor(x);
  std::vector<TensorId> inputs{x, weight({fixed(n), in.shape.back()}, in.dtype)};
  if (bias) {
    inputs.push_back(weight({fixed(n)}, in.dtype));
  }
  return op(OpKind::kLinear, std::move(inputs), {in.shape.front(), fixed(n)}, in.dtype);
}

TensorId RegionBuilder::silu_mul(TensorId x) {
  std::vector<Dim> shape = graph_.tensor(x).shape;
  shape.back().factor /= 2;
  return op(OpKind::kSiluMul, {x}, shape, dtype_);
}

TensorId RegionBuilder::rope(TensorId x, TensorId positions, std::int64_t rotary_dim) {
  return op(
      OpKind::kRope, {x, positions}, graph_.tensor(x).shape, dtype_,
      Attrs().set("theta", 1e4).set("rotary_dim", rotary_dim).set("interleaved", std::int64_t{0}));
}

RegionBuilder::Heads RegionBuilder::split(TensorId x, std::int64_t q, std::int64_t kv,
                                          std::int64_t dim) {
  const Dim rows = graph_.tensor(x).shape.front();
  const auto part = [&](std::int64_t heads) {
    return tensor(graph::TensorKind::kActivation, dtype_, {rows, fixed(heads), fixed(dim)});
  };
  const Heads heads{part(q), part(kv), part(kv)};
  graph::Node node;
  node.op = OpKind::kSplit;
  node.inputs = {x};
  node.outputs = {heads.q, heads.k, heads.v};
  graph_.add_node(std::move(node));
  return heads;
}

RegionBuilder::Caches RegionBuilder::kv_write(TensorId k, TensorId v, TensorId slots,
                                              Caches caches) {
  const Caches written{
      tensor(graph::TensorKind::kActivation, dtype_, graph_.tensor(caches.k).shape),
      tensor(graph::TensorKind::kActivation, dtype_, graph_.tensor(caches.v).shape)};
  graph::Node node;
  node.op = OpKind::kKvWrite;
  node.inputs = {k, v, slots, caches.k, caches.v};
  node.outputs = {written.k, written.v};
  node.aliases = {{0, 3}, {1, 4}};
  graph_.add_node(std::move(node));
  return written;
}

graph::Graph RegionBuilder::finish(std::vector<TensorId> outputs) {
  graph_.inputs = activations_;
  graph_.inputs.insert(graph_.inputs.end(), weights_.begin(), weights_.end());
  graph_.outputs = std::move(outputs);
  return std::move(graph_);
}

namespace {

constexpr std::int64_t kHidden = 64;
constexpr std::int64_t kDim = 32;
constexpr std::int64_t kQueries = 4;
constexpr std::int64_t kKeys = 2;

const Dim kSlots{graph::Symbol::kSlots, 1};

RegionBuilder::Caches caches(RegionBuilder& b) {
  return {b.state({kSlots, fixed(kKeys), fixed(kDim)}),
          b.state({kSlots, fixed(kKeys), fixed(kDim)})};
}

graph::Graph add_norm(DType dtype) {
  RegionBuilder b(dtype);
  const TensorId sum =
      b.add(b.input({tokens(), fixed(kHidden)}), b.input({tokens(), fixed(kHidden)}));
  const TensorId y = b.norm(sum);
  return b.finish({sum, y});
}

// Norms per head, rope and the cache write, on a fused qkv tensor or on separate ones.
graph::Graph heads_rows(DType dtype) {
  RegionBuilder b(dtype);
  const TensorId q = b.input({tokens(), fixed(kQueries), fixed(kDim)});
  const TensorId k = b.input({tokens(), fixed(kKeys), fixed(kDim)});
  const TensorId v = b.input({tokens(), fixed(kKeys), fixed(kDim)});
  const TensorId positions = b.input({tokens()}, DType::kI32);
  const TensorId slots = b.input({tokens()}, DType::kI32);
  const TensorId q2 = b.rope(b.norm(q), positions);
  const TensorId k2 = b.rope(b.norm(k), positions);
  const auto written = b.kv_write(k2, v, slots, caches(b));
  return b.finish({q2, written.k, written.v});
}

graph::Graph silu_rows(DType dtype) {
  RegionBuilder b(dtype);
  const TensorId x = b.input({tokens(), fixed(2 * kHidden)});
  const TensorId y = b.add(b.silu_mul(x), b.input({tokens(), fixed(kHidden)}));
  return b.finish({y});
}

graph::Graph router(DType dtype) {
  RegionBuilder b(dtype);
  const TensorId scores = b.input({tokens(), fixed(32)}, DType::kF32);
  const TensorId bias = b.weight({fixed(32)}, DType::kF32);
  const TensorId x = b.input({tokens(), fixed(kHidden)});
  graph::Graph graph = b.finish({});
  graph::Tensor ids;
  ids.dtype = DType::kI32;
  ids.shape = {tokens(), fixed(4)};
  graph::Tensor weights = ids;
  weights.dtype = DType::kF32;
  graph::Node node;
  node.op = OpKind::kRouterSelect;
  node.inputs = {scores, bias};
  node.outputs = {graph.add_tensor(ids), graph.add_tensor(weights)};
  node.attrs.set("top_k", std::int64_t{4})
      .set("groups", std::int64_t{4})
      .set("top_groups", std::int64_t{2})
      .set("renormalise", std::int64_t{1})
      .set("scale", 2.5)
      .set("function", std::string("sigmoid"));
  graph.outputs = node.outputs;
  graph.add_node(node);
  graph::Tensor exact = graph.tensor(x);
  exact.id = graph::kNone;
  exact.dtype = DType::kF32;
  graph::Node cast;
  cast.op = OpKind::kCast;
  cast.inputs = {x};
  cast.outputs = {graph.add_tensor(exact)};
  graph.outputs.push_back(cast.outputs[0]);
  graph.add_node(cast);
  return graph;
}

graph::Graph qkv(DType dtype, bool bias, std::int64_t rotary) {
  RegionBuilder b(dtype);
  const TensorId x = b.input({tokens(), fixed(kHidden)});
  const TensorId positions = b.input({tokens()}, DType::kI32);
  const TensorId slots = b.input({tokens()}, DType::kI32);
  const TensorId y = b.linear(b.norm(x), (kQueries + 2 * kKeys) * kDim, bias);
  const auto heads = b.split(y, kQueries, kKeys, kDim);
  const TensorId q = b.rope(b.norm(heads.q), positions, rotary);
  const TensorId k = b.rope(b.norm(heads.k), positions, rotary);
  const auto written = b.kv_write(k, heads.v, slots, caches(b));
  return b.finish({q, written.k, written.v});
}

graph::Graph gate_up(DType dtype, std::int64_t inner) {
  RegionBuilder b(dtype);
  const TensorId sum =
      b.add(b.input({tokens(), fixed(kHidden)}), b.input({tokens(), fixed(kHidden)}));
  const TensorId y = b.silu_mul(b.linear(b.norm(sum), 2 * inner, true));
  return b.finish({sum, y});
}

graph::Graph projection(DType dtype, bool bias) {
  RegionBuilder b(dtype);
  const TensorId x = b.input({tokens(), fixed(96)});
  const TensorId residual = b.input({tokens(), fixed(kHidden)});
  return b.finish({b.add(residual, b.linear(x, kHidden, bias))});
}

graph::Graph head(DType dtype, bool show_logits) {
  RegionBuilder b(dtype);
  const TensorId x = b.input({tokens(), fixed(kHidden)});
  const TensorId logits = b.linear(b.norm(x), 328);
  const TensorId ids = b.op(OpKind::kArgmax, {logits}, {tokens()}, DType::kI32);
  return b.finish(show_logits ? std::vector{logits, ids} : std::vector{ids});
}

graph::Graph last_rows_head(DType dtype) {
  RegionBuilder b(dtype);
  const Dim rows{graph::Symbol::kLogitRows, 1};
  const TensorId normed = b.norm(b.input({tokens(), fixed(kHidden)}));
  const TensorId last = b.op(OpKind::kSelectRows, {normed}, {rows, fixed(kHidden)}, dtype);
  const TensorId logits = b.linear(last, 96);
  return b.finish({b.op(OpKind::kArgmax, {logits}, {rows}, DType::kI32)});
}

graph::Graph embed(DType dtype) {
  RegionBuilder b(dtype);
  const TensorId ids = b.input({tokens()}, DType::kI32);
  const TensorId table = b.weight({fixed(128), fixed(kHidden)});
  const TensorId hidden = b.op(OpKind::kEmbedding, {ids, table}, {tokens(), fixed(kHidden)}, dtype,
                               Attrs().set("vocab_begin", std::int64_t{0}));
  const TensorId normed = b.norm(hidden);
  return b.finish({hidden, normed});
}

graph::Graph chain(DType dtype, bool with_heads) {
  RegionBuilder b(dtype);
  const TensorId attended = b.input({tokens(), fixed(kQueries * kDim)});
  const TensorId residual = b.input({tokens(), fixed(kHidden)});
  const TensorId middle = b.add(residual, b.linear(attended, kHidden));
  const TensorId inner = b.silu_mul(b.linear(b.norm(middle), 2 * 48));
  const TensorId hidden = b.add(middle, b.linear(inner, kHidden));
  if (!with_heads) {
    return b.finish({hidden});
  }
  const TensorId positions = b.input({tokens()}, DType::kI32);
  const TensorId slots = b.input({tokens()}, DType::kI32);
  const TensorId y = b.linear(b.norm(hidden), (kQueries + 2 * kKeys) * kDim);
  const auto heads = b.split(y, kQueries, kKeys, kDim);
  const TensorId q = b.rope(b.norm(heads.q), positions);
  const auto written = b.kv_write(b.rope(b.norm(heads.k), positions), heads.v, slots, caches(b));
  return b.finish({hidden, q, written.k, written.v});
}

}  // namespace

std::vector<NamedRegion> all_regions(DType dtype) {
  std::vector<NamedRegion> regions;
  regions.push_back({"add_norm", add_norm(dtype)});
  regions.push_back({"heads_rows", heads_rows(dtype)});
  regions.push_back({"silu_rows", silu_rows(dtype)});
  regions.push_back({"router", router(dtype)});
  regions.push_back({"embed", embed(dtype)});
  regions.push_back({"qkv", qkv(dtype, false, 0)});
  regions.push_back({"qkv_bias_partial_rope", qkv(dtype, true, 16)});
  regions.push_back({"gate_up", gate_up(dtype, 48)});
  regions.push_back({"gate_up_ragged", gate_up(dtype, 40)});
  regions.push_back({"projection", projection(dtype, false)});
  regions.push_back({"projection_bias", projection(dtype, true)});
  regions.push_back({"head", head(dtype, false)});
  regions.push_back({"head_with_logits", head(dtype, true)});
  regions.push_back({"last_rows_head", last_rows_head(dtype)});
  regions.push_back({"chain", chain(dtype, false)});
  regions.push_back({"chain_to_heads", chain(dtype, true)});
  return regions;
}

graph::Bindings bindings_of(std::int64_t token_count) {
  return {token_count, 1, token_count + 16, 1};
}

}  // namespace fusefarm::codegen::test
