#include "graph/graph_builder.h"

#include <cmath>
#include <utility>

namespace fusefarm::graph {
namespace {

// Norm weights of trained models spread around one, biases stay small.
constexpr double kNormSpread = 0.1;
constexpr double kBiasScale = 0.02;

std::vector<Dim> fixed_shape(const std::vector<std::int64_t>& sizes) {
  std::vector<Dim> shape;
  shape.reserve(sizes.size());
  for (const std::int64_t size : sizes) {
    shape.push_back(fixed(size));
  }
  return shape;
}

}  // namespace

void GraphBuilder::enter_layer(std::int32_t layer) {
  layer_ = layer;
  prefix_ = layer == kNone ? "" : "layers." + std::to_string(layer) + ".";
}

TensorId GraphBuilder::input(const std::string& name, DType dtype, std::vector<Dim> shape) {
  const TensorId id = graph_.add_tensor(
      {kNone, prefix_ + name, TensorKind::kInput, dtype, std::move(shape), Init::kNormal, 1.0});
  graph_.inputs.push_back(id);
  return id;
}

TensorId GraphBuilder::state(const std::string& name, std::vector<Dim> shape) {
  const TensorId id = graph_.add_tensor(
      {kNone, prefix_ + name, TensorKind::kState, dtype_, std::move(shape), Init::kNormal, 1.0});
  graph_.inputs.push_back(id);
  return id;
}

TensorId GraphBuilder::written_state(const std::string& name, const Tensor& before) {
  return graph_.add_tensor({kNone, prefix_ + name, TensorKind::kState, before.dtype, before.shape,
                            before.init, before.init_scale});
}

TensorId GraphBuilder::weight(const std::string& name, DType dtype,
                              const std::vector<std::int64_t>& shape, Init init, double scale) {
  return graph_.add_tensor(
      {kNone, prefix_ + name, TensorKind::kWeight, dtype, fixed_shape(shape), init, scale});
}

TensorId GraphBuilder::matrix(const std::string& name, DType dtype,
                              const std::vector<std::int64_t>& shape) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.back()));
  return weight(name, dtype, shape, Init::kNormal, scale);
}

TensorId GraphBuilder::activation(const std::string& name, DType dtype, std::vector<Dim> shape) {
  return graph_.add_tensor({kNone, prefix_ + name, TensorKind::kActivation, dtype, std::move(shape),
                            Init::kNormal, 1.0});
}

void GraphBuilder::node(OpKind kind, const std::string& name, std::vector<TensorId> inputs,
                        std::vector<TensorId> outputs, Attrs attrs,
                        std::vector<std::pair<int, int>> aliases) {
  Node node;
  node.op = kind;
  node.name = prefix_ + name;
  node.layer = layer_;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attrs = std::move(attrs);
  node.aliases = std::move(aliases);
  graph_.add_node(std::move(node));
}

TensorId GraphBuilder::op(OpKind kind, const std::string& name, std::vector<TensorId> inputs,
                          std::vector<Dim> shape, DType dtype, Attrs attrs) {
  const TensorId output = activation(name + ".out", dtype, std::move(shape));
  node(kind, name, std::move(inputs), {output}, std::move(attrs));
  return output;
}

TensorId GraphBuilder::op(OpKind kind, const std::string& name, std::vector<TensorId> inputs,
                          std::vector<Dim> shape, Attrs attrs) {
  return op(kind, name, std::move(inputs), std::move(shape), dtype_, std::move(attrs));
}

TensorId GraphBuilder::linear(const std::string& name, TensorId x, std::int64_t columns,
                              bool bias) {
  const Tensor& in = graph_.tensor(x);
  const DType dtype = in.dtype;
  std::vector<Dim> shape = in.shape;
  const std::int64_t depth = shape.back().factor;
  shape.back() = fixed(columns);
  std::vector<TensorId> inputs{x, matrix(name + ".weight", dtype, {columns, depth})};
  if (bias) {
    inputs.push_back(weight(name + ".bias", dtype, {columns}, Init::kSmall, kBiasScale));
  }
  return op(OpKind::kLinear, name, std::move(inputs), std::move(shape), dtype);
}

TensorId GraphBuilder::rms_norm(const std::string& name, TensorId x, double eps) {
  const std::vector<Dim> shape = graph_.tensor(x).shape;
  const TensorId w =
      weight(name + ".weight", dtype_, {shape.back().factor}, Init::kAroundOne, kNormSpread);
  return op(OpKind::kRmsNorm, name, {x, w}, shape, Attrs().set("eps", eps));
}

TensorId GraphBuilder::add(const std::string& name, TensorId a, TensorId b) {
  return op(OpKind::kAdd, name, {a, b}, graph_.tensor(a).shape);
}

TensorId GraphBuilder::silu_mul(const std::string& name, TensorId gate_up) {
  std::vector<Dim> shape = graph_.tensor(gate_up).shape;
  shape.back().factor /= 2;
  return op(OpKind::kSiluMul, name, {gate_up}, std::move(shape));
}

}  // namespace fusefarm::graph
