#include "verify/oracle.h"

#include <algorithm>
#include <cmath>

#include "graph/region.h"
#include "verify/evaluator.h"

namespace fusefarm::verify {

std::int64_t OracleTensor::row_width() const {
  std::int64_t width = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    width *= shape[i];
  }
  return width;
}

Result<Evaluated> evaluate(const graph::Graph& graph, const graph::Bindings& bindings,
                           const TensorValues& inputs, const EvaluateOptions& options) {
  const auto is_region = [](const graph::Node& node) { return node.op == graph::OpKind::kRegion; };
  if (std::any_of(graph.nodes().begin(), graph.nodes().end(), is_region)) {
    const graph::Graph expanded = graph::expand(graph);
    return Evaluator(expanded, bindings, inputs, options).run();
  }
  return Evaluator(graph, bindings, inputs, options).run();
}

double excused_share(const Evaluated& evaluated) {
  double most = 0;
  for (const auto& [id, tensor] : evaluated.tensors) {
    if (tensor.tolerance.empty()) {
      continue;
    }
    const auto excused = std::count_if(tensor.tolerance.begin(), tensor.tolerance.end(),
                                       [](double t) { return std::isinf(t); });
    most =
        std::max(most, static_cast<double>(excused) / static_cast<double>(tensor.tolerance.size()));
  }
  return most;
}

Error node_error(const graph::Node& node, const std::string& message) {
  return Error{ErrorCode::kInvalidArgument, std::string("node ") + std::to_string(node.id) + " (" +
                                                graph::to_string(node.op) + "): " + message};
}

Result<Evaluated> Evaluator::run() {
  TRY(check_inputs());
  find_last_uses();
  for (const graph::Node& node : graph_.nodes()) {
    TRY(step(node));
    for (const graph::TensorId id : node.inputs) {
      if (last_use_[id] == node.id && !is_kept(id)) {
        held_.erase(id);
      }
    }
  }
  TRY(collect());
  return std::move(result_);
}

Result<void> Evaluator::check_inputs() const {
  // Whatever is read and not computed: boundary inputs and weights.
  for (const graph::Node& node : graph_.nodes()) {
    for (const graph::TensorId id : node.inputs) {
      if (graph_.producer(id) == nullptr) {
        TRY(check_input(id));
      }
    }
  }
  return {};
}

Result<void> Evaluator::check_input(graph::TensorId id) const {
  const graph::Tensor& tensor = graph_.tensor(id);
  const auto found = inputs_.find(id);
  const std::string name = "input tensor " + std::to_string(id);
  if (found == inputs_.end()) {
    return Error{ErrorCode::kInvalidArgument, name + " has no value"};
  }
  const TensorView& view = found->second;
  if (view.dtype != tensor.dtype || view.shape != graph::bound_shape(tensor, bindings_)) {
    return Error{ErrorCode::kInvalidArgument, name + " has another dtype or shape than the graph"};
  }
  if (static_cast<std::int64_t>(view.bytes.size()) < graph::byte_count(tensor, bindings_)) {
    return Error{ErrorCode::kInvalidArgument, name + " has too few bytes"};
  }
  return {};
}

void Evaluator::find_last_uses() {
  for (const graph::Node& node : graph_.nodes()) {
    for (const graph::TensorId id : node.inputs) {
      last_use_[id] = node.id;
    }
  }
}

bool Evaluator::is_kept(graph::TensorId id) const {
  const auto has = [id](const std::vector<graph::TensorId>& list) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  return has(graph_.outputs) || has(options_.exposed);
}

const Values& Evaluator::values(const graph::Node& node, std::size_t input) {
  const graph::TensorId id = node.inputs[input];
  Held& held = held_[id];
  if (!held.values) {
    held.values = load_values(inputs_.at(id));
  }
  return *held.values;
}

const Integers& Evaluator::integers(const graph::Node& node, std::size_t input) {
  const graph::TensorId id = node.inputs[input];
  Held& held = held_[id];
  if (!held.integers) {
    const TensorView& view = inputs_.at(id);
    Integers loaded;
    loaded.shape = view.shape;
    for (std::size_t i = 0; i < count_of(view.shape); ++i) {
      loaded.value.push_back(integer_at(view, i));
    }
    held.integers = std::move(loaded);
  }
  return *held.integers;
}

const StateValues& Evaluator::state(const graph::Node& node, std::size_t input) {
  const graph::TensorId id = node.inputs[input];
  Held& held = held_[id];
  if (!held.state) {
    held.state = StateValues{inputs_.at(id), {}, {}};
  }
  return *held.state;
}

Result<const TensorView*> Evaluator::weight(const graph::Node& node, std::size_t input) const {
  const auto found = inputs_.find(node.inputs[input]);
  if (found == inputs_.end()) {
    return node_error(node, "its weight is computed inside the graph, which is not supported");
  }
  return &found->second;
}

graph::DType Evaluator::dtype_of(const graph::Node& node, std::size_t output) const {
  return graph_.tensor(node.outputs[output]).dtype;
}

std::vector<std::int64_t> Evaluator::shape_of(const graph::Node& node, std::size_t output) const {
  return graph::bound_shape(graph_.tensor(node.outputs[output]), bindings_);
}

void Evaluator::put(const graph::Node& node, std::size_t output, Values values, bool rounded) {
  values.dtype = dtype_of(node, output);
  values.shape = shape_of(node, output);
  if (rounded) {
    add_rounding(values);
  }
  held_[node.outputs[output]].values = std::move(values);
}

Result<void> Evaluator::step(const graph::Node& node) {
  using graph::OpKind;
  switch (node.op) {
    case OpKind::kEmbedding:
      return embedding(node);
    case OpKind::kRmsNorm: {
      const Values& x = values(node, 0);
      put(node, 0, rms_norm(x, values(node, 1), node.attrs.real("eps", 1e-6), dtype_of(node)));
      return {};
    }
    case OpKind::kAdd: {
      const Values& a = values(node, 0);
      put(node, 0, add_values(a, values(node, 1), dtype_of(node)));
      return {};
    }
    case OpKind::kLinear:
      return linear(node);
    case OpKind::kSplit:
      split(node);
      return {};
    case OpKind::kRope: {
      const Values& x = values(node, 0);
      const RopeRule rule = rope_rule(node.attrs, x.shape.back());
      put(node, 0, rope(x, integers(node, 1), rule, dtype_of(node)));
      return {};
    }
    case OpKind::kKvWrite:
      return kv_write(node);
    case OpKind::kAttention:
      return attend(node);
    case OpKind::kSiluMul:
      put(node, 0, silu_mul(values(node, 0), dtype_of(node)));
      return {};
    case OpKind::kRouterSelect:
      return route(node);
    case OpKind::kExpertLinear:
      return experts(node);
    case OpKind::kMoeFinalize: {
      const Values& y = values(node, 0);
      put(node, 0, moe_finalize(y, values(node, 1), dtype_of(node)));
      return {};
    }
    case OpKind::kCast: {
      const Values& x = values(node, 0);
      // A wider type holds the same values.
      const bool rounds = graph::unit_roundoff(dtype_of(node)) > graph::unit_roundoff(x.dtype);
      put(node, 0, cast(x, dtype_of(node)), rounds);
      return {};
    }
    case OpKind::kSelectRows:
      select_rows(node);
      return {};
    case OpKind::kArgmax:
      choose(node);
      return {};
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
      return collective(node);
    case OpKind::kRegion:
      break;
  }
  return node_error(node, "has no reference");
}

Result<void> Evaluator::collect() {
  std::vector<graph::TensorId> wanted = graph_.outputs;
  for (const graph::TensorId id : options_.exposed) {
    if (graph_.tensors().contains(id) && graph_.producer(id) != nullptr) {
      wanted.push_back(id);
    }
  }
  for (const graph::TensorId id : wanted) {
    const auto found = held_.find(id);
    if (found == held_.end()) {
      return Error{ErrorCode::kInvalidArgument,
                   "output tensor " + std::to_string(id) + " is not produced inside the graph"};
    }
    Held& held = found->second;
    if (held.state) {
      result_.tensors[id] = collect_state(*held.state);
    } else if (held.values) {
      Values& v = *held.values;
      allocate_errors(v);  // a copy: an honest one keeps the bits
      result_.tensors[id] =
          OracleTensor{v.dtype, v.shape, false, {}, v.value, v.tolerance, v.radius};
    }
  }
  return {};
}

OracleTensor Evaluator::collect_state(const StateValues& state) const {
  OracleTensor out;
  out.dtype = state.base.dtype;
  out.shape = state.base.shape;
  out.state = true;
  const auto width = static_cast<std::size_t>(out.row_width());
  for (const auto& [row, at] : state.row_of) {
    out.rows.push_back(row);
    for (std::size_t i = at * width; i < (at + 1) * width; ++i) {
      out.value.push_back(state.written.value[i]);
      out.tolerance.push_back(state.written.tolerance_at(i));
      out.radius.push_back(state.written.radius_at(i));
    }
  }
  return out;
}

}  // namespace fusefarm::verify
