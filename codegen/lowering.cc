#include "codegen/lowering.h"

#include <algorithm>
#include <utility>

#include "codegen/buffer_reuse.h"
#include "codegen/kernels/builtin.h"
#include "codegen/kernels/pack.h"

namespace fusefarm::codegen {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorKind;

Error invalid(const std::string& what) { return Error{ErrorCode::kInvalidArgument, what}; }

struct Shape {
  std::int64_t rows = 1, columns = 1;
};

Shape shape_of(const Tensor& tensor, const graph::Bindings& bindings) {
  const std::vector<std::int64_t> dims = graph::bound_shape(tensor, bindings);
  Shape shape;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    (i == 0 ? shape.rows : shape.columns) *= dims[i];
  }
  return shape;
}

std::int64_t last_dim(const Tensor& tensor) {
  return tensor.shape.empty() ? 1 : tensor.shape.back().factor;
}

}  // namespace

Lowering::Lowering(const Graph& graph, const LowerOptions& options)
    : graph_(graph), options_(options) {
  top_.graph = &graph;
}

TensorRef Lowering::add_buffer(ProgramBuffer buffer) {
  const auto index = static_cast<std::int32_t>(result_.program.buffers.size());
  const TensorRef ref{index, 0, buffer.columns, buffer.rows, buffer.columns};
  result_.program.buffers.push_back(std::move(buffer));
  return ref;
}

Result<void> Lowering::place_boundary() {
  std::map<TensorId, TensorRef> by_storage;
  for (const auto& [id, offset] : options_.boundary.offset) {
    if (!graph_.tensors().contains(id)) {
      return invalid("boundary tensor " + std::to_string(id) + " is not in the graph");
    }
    const TensorId storage = graph::storage_of(graph_, id);
    if (!by_storage.contains(storage)) {
      const Tensor& tensor = graph_.tensor(storage);
      const Shape shape = shape_of(tensor, options_.bindings);
      ProgramBuffer buffer;
      buffer.placement = Placement::kBoundary;
      buffer.dtype = tensor.dtype;
      buffer.rows = shape.rows;
      buffer.columns = shape.columns;
      buffer.offset = offset;
      buffer.poison = graph_.producer(storage) != nullptr;
      buffer.name = tensor.name;
      by_storage[storage] = add_buffer(std::move(buffer));
    }
    top_.refs[id] = by_storage[storage];
  }
  return {};
}

Result<TensorRef> Lowering::weight(const Tensor& tensor) {
  const auto known = weights_.find(tensor.id);
  if (known != weights_.end()) {
    return known->second;
  }
  const auto offset = options_.weights.offset.find(tensor.id);
  if (offset == options_.weights.offset.end()) {
    return invalid("weight " + std::to_string(tensor.id) + " has no place in the weights region");
  }
  const Shape shape = shape_of(tensor, options_.bindings);
  ProgramBuffer buffer;
  buffer.placement = Placement::kWeights;
  buffer.dtype = tensor.dtype;
  buffer.rows = shape.rows;
  buffer.columns = shape.columns;
  buffer.offset = offset->second;
  buffer.name = tensor.name;
  return weights_[tensor.id] = add_buffer(std::move(buffer));
}

Result<TensorRef> Lowering::resolve(Scope& scope, TensorId id) {
  const auto known = scope.refs.find(id);
  if (known != scope.refs.end()) {
    return known->second;
  }
  const Tensor& tensor = scope.graph->tensor(id);
  const TensorId storage = graph::storage_of(*scope.graph, id);
  if (storage != id) {
    return scope.refs[id] = TRY(resolve(scope, storage));
  }
  if (tensor.kind == TensorKind::kWeight && scope.graph == &graph_) {
    return scope.refs[id] = TRY(weight(tensor));
  }
  if (scope.graph->producer(id) == nullptr) {
    return invalid("tensor " + std::to_string(id) + " '" + tensor.name +
                   "' is read but nothing provides it");
  }
  const Shape shape = shape_of(tensor, options_.bindings);
  ProgramBuffer buffer;
  buffer.dtype = tensor.dtype;
  buffer.rows = shape.rows;
  buffer.columns = shape.columns;
  buffer.name = tensor.name;
  return scope.refs[id] = add_buffer(std::move(buffer));
}

TensorRef Lowering::prepared(const TensorRef& weight, const PreparedLayout& layout, std::int64_t n,
                             std::int64_t k) {
  const auto key =
      std::tuple{weight.buffer, layout.panel, layout.order, layout.dtype, layout.pair_interleave};
  const auto known = prepared_.find(key);
  if (known != prepared_.end()) {
    return known->second;
  }
  const PreparedShape shape = prepared_shape(layout, n, k);
  ProgramBuffer buffer;
  buffer.placement = Placement::kPrepared;
  buffer.dtype = layout.dtype;
  buffer.rows = shape.rows;
  buffer.columns = shape.columns;
  buffer.source = weight.buffer;
  buffer.layout = layout;
  buffer.name = result_.program.buffers[static_cast<std::size_t>(weight.buffer)].name;
  return prepared_[key] = add_buffer(std::move(buffer));
}

Result<void> Lowering::lower_nodes(Scope& scope) {
  for (const Node& node : scope.graph->nodes()) {
    if (scope.graph == &graph_) {
      node_ = node.id;
    }
    TRY(lower_node(scope, node));
  }
  return {};
}

Result<void> Lowering::lower_node(Scope& scope, const Node& node) {
  switch (node.op) {
    case OpKind::kRegion:
      return lower_region(scope, node);
    case OpKind::kSplit:
      return lower_split(scope, node);
    case OpKind::kLinear:
      return lower_linear(scope, node);
    default:
      return lower_builtin(scope, node);
  }
}

Result<void> Lowering::lower_region(Scope& scope, const Node& node) {
  if (!node.body) {
    return invalid("region node " + std::to_string(node.id) + " has no body");
  }
  const Digest signature = TRY(Digest::from_hex(node.attrs.text("signature")));
  const Candidate* candidate =
      options_.implementation ? options_.implementation(signature) : nullptr;
  if (candidate != nullptr) {
    return lower_plan(scope, *node.body, *candidate, node.inputs, node.outputs);
  }
  Scope body{node.body.get(), {}};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    body.refs[node.body->inputs[i]] = TRY(resolve(scope, node.inputs[i]));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    // Outputs with a place of their own are written there; others follow the body.
    const auto placed = scope.refs.find(node.outputs[i]);
    if (placed != scope.refs.end()) {
      body.refs[node.body->outputs[i]] = placed->second;
    }
  }
  TRY(lower_nodes(body));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    scope.refs[node.outputs[i]] = TRY(resolve(body, node.body->outputs[i]));
  }
  return {};
}

Result<void> Lowering::lower_split(Scope& scope, const Node& node) {
  const TensorRef whole = TRY(resolve(scope, node.inputs.at(0)));
  std::int64_t column = whole.column;
  for (const TensorId output : node.outputs) {
    const Shape shape = shape_of(scope.graph->tensor(output), options_.bindings);
    TensorRef view = whole;
    view.column = column;
    view.columns = shape.columns;
    column += shape.columns;
    const auto placed = scope.refs.find(output);
    if (placed == scope.refs.end()) {
      scope.refs[output] = view;
      continue;
    }
    ProgramStep copy;  // the part is visible outside under its own address
    copy.op = OpKind::kCast;
    copy.tensors = {view, placed->second};
    copy.node = node_;
    result_.program.steps.push_back(std::move(copy));
  }
  return {};
}

graph::Attrs Lowering::step_attrs(const Scope& scope, const Node& node) const {
  graph::Attrs attrs = node.attrs;
  const graph::Bindings& bindings = options_.bindings;
  const Tensor& first = scope.graph->tensor(node.inputs.at(0));
  const std::int64_t sequences = std::max<std::int64_t>(1, bindings.sequences);
  if (node.op == OpKind::kRmsNorm || node.op == OpKind::kRope || node.op == OpKind::kAttention) {
    attrs.set("head_dim", last_dim(first));
  }
  if (node.op == OpKind::kAttention) {
    attrs.set("sequences", sequences);
  }
  if (node.op == OpKind::kRope) {
    attrs.set("max_position", bindings.slots / sequences);
  }
  return attrs;
}

Result<void> Lowering::lower_linear(Scope& scope, const Node& node) {
  const Tensor& weight = scope.graph->tensor(node.inputs.at(1));
  const TensorRef x = TRY(resolve(scope, node.inputs.at(0)));
  const TensorRef raw = TRY(resolve(scope, node.inputs.at(1)));
  const std::int64_t n = raw.rows;
  const std::int64_t k = raw.columns;
  ProgramStep step;
  step.op = OpKind::kLinear;
  step.attrs = node.attrs;
  step.node = node_;
  step.choice = options_.gemm ? options_.gemm(x.rows, n, k, weight.dtype) : "packed";
  TensorRef used = raw;
  if (step.choice == "packed") {
    used = prepared(raw, packed_linear_layout(weight.dtype), n, k);
  } else if (step.choice == "openblas") {
    // sgemm wants f32: a bf16 weight costs a second copy of twice its size.
    PreparedLayout layout;
    layout.panel = 0;
    layout.dtype = graph::DType::kF32;
    used = weight.dtype == graph::DType::kF32 ? raw : prepared(raw, layout, n, k);
  } else if (step.choice != "onednn") {  // onednn: the row-major weight itself
    return invalid("unknown GEMM library '" + step.choice + "'; known: packed, openblas, onednn");
  }
  step.tensors = {x, used};
  if (node.inputs.size() > 2) {
    step.tensors.push_back(TRY(resolve(scope, node.inputs[2])));
  }
  step.tensors.push_back(TRY(resolve(scope, node.outputs.at(0))));
  result_.program.steps.push_back(std::move(step));
  return {};
}

Result<void> Lowering::lower_builtin(Scope& scope, const Node& node) {
  if (graph::is_collective(node.op)) {
    return Error{ErrorCode::kUnsupported, std::string(graph::to_string(node.op)) +
                                              ": collectives have no CPU implementation yet"};
  }
  ProgramStep step;
  step.op = node.op;
  step.attrs = step_attrs(scope, node);
  step.node = node_;
  for (const TensorId id : node.inputs) {
    step.tensors.push_back(TRY(resolve(scope, id)));
  }
  for (const TensorId id : node.outputs) {
    step.tensors.push_back(TRY(resolve(scope, id)));
  }
  result_.program.steps.push_back(std::move(step));
  return {};
}

Lowered Lowering::finish() {
  Program& program = result_.program;
  program.set_bytes = options_.boundary.bytes;
  program.weight_bytes = options_.weights.bytes;
  program.sets = options_.sets;
  for (auto& [id, ref] : top_.refs) {
    result_.tensors[id] = ref;
  }
  std::int64_t bytes = 0;
  for (const auto& [id, tensor] : graph_.tensors()) {
    bytes += tensor.kind == TensorKind::kWeight ? graph::byte_count(tensor, options_.bindings) : 0;
  }
  const std::int64_t wanted =
      bytes == 0 ? 1 : (options_.rotation_bytes + bytes - 1) / std::max<std::int64_t>(1, bytes);
  const auto copies = static_cast<std::int32_t>(std::clamp<std::int64_t>(wanted, 1, kCopiesMax));
  const std::vector<std::int32_t> renumbered = reuse_private_buffers(program);
  for (auto& [id, ref] : result_.tensors) {
    ref.buffer = renumbered[static_cast<std::size_t>(ref.buffer)];
  }
  std::erase_if(result_.tensors, [](const auto& entry) { return entry.second.buffer < 0; });
  // A weight that only feeds prepared buffers is read at load alone: one copy does.
  for (const ProgramStep& step : program.steps) {
    for (const TensorRef& ref : step.tensors) {
      ProgramBuffer& buffer = program.buffers[static_cast<std::size_t>(ref.buffer)];
      if (buffer.placement == Placement::kWeights || buffer.placement == Placement::kPrepared) {
        buffer.copies = copies;
      }
    }
  }
  program.artifacts.resize(result_.artifacts.size());
  return std::move(result_);
}

}  // namespace fusefarm::codegen
