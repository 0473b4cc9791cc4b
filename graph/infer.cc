#include "graph/infer.h"

#include <string>
#include <vector>

#include "graph/attr_rules.h"

namespace fusefarm::graph {
namespace {

using Shape = std::vector<Dim>;

std::string text_of(const Shape& shape) {
  std::string text = "[";
  for (const Dim dim : shape) {
    text += (text.size() > 1 ? "," : "") + to_string(dim);
  }
  return text + "]";
}

// Operands of one node with the few questions that the rules ask.
class Operands {
 public:
  Operands(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Tensor& in(std::size_t i) const { return graph_.tensor(node_.inputs[i]); }

  const Tensor& out(std::size_t i) const { return graph_.tensor(node_.outputs[i]); }

  std::size_t inputs() const { return node_.inputs.size(); }

  std::int64_t attr(const char* name) const { return node_.attrs.integer(name); }

  Error wrong(const std::string& why) const {
    return Error{ErrorCode::kInvalidArgument, "node " + std::to_string(node_.id) + " (" +
                                                  to_string(node_.op) + " '" +
                                                  node_.name.substr(0, 80) + "'): " + why};
  }

  Result<void> arity(std::size_t least, std::size_t most, std::size_t outputs) const {
    if (node_.inputs.size() >= least && node_.inputs.size() <= most &&
        node_.outputs.size() == outputs) {
      return {};
    }
    return wrong("has " + std::to_string(node_.inputs.size()) + " inputs and " +
                 std::to_string(node_.outputs.size()) + " outputs");
  }

  Result<void> is(const Tensor& tensor, DType dtype, const Shape& shape) const {
    if (tensor.dtype == dtype && tensor.shape == shape) {
      return {};
    }
    return wrong("tensor " + std::to_string(tensor.id) + " is " + to_string(tensor.dtype) +
                 text_of(tensor.shape) + ", expected " + to_string(dtype) + text_of(shape));
  }

  Result<void> floating(const Tensor& tensor, std::size_t rank) const {
    if (tensor.dtype != DType::kI32 && tensor.shape.size() == rank) {
      return {};
    }
    return wrong("tensor " + std::to_string(tensor.id) + " is " + to_string(tensor.dtype) +
                 text_of(tensor.shape) + ", expected a float tensor of rank " +
                 std::to_string(rank));
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

Result<void> check_embedding(const Operands& o) {
  TRY(o.arity(2, 2, 1));
  TRY(o.floating(o.in(1), 2));
  if (o.in(0).shape.size() != 1) {
    return o.wrong("ids must be a vector");
  }
  TRY(o.is(o.in(0), DType::kI32, o.in(0).shape));
  return o.is(o.out(0), o.in(1).dtype, {o.in(0).shape[0], o.in(1).shape[1]});
}

Result<void> check_norm(const Operands& o) {
  TRY(o.arity(2, 2, 1));
  const Tensor& x = o.in(0);
  if (x.shape.empty()) {
    return o.wrong("its input is a scalar");
  }
  TRY(o.floating(x, x.shape.size()));
  TRY(o.is(o.in(1), x.dtype, {x.shape.back()}));
  return o.is(o.out(0), x.dtype, x.shape);
}

Result<void> check_add(const Operands& o) {
  TRY(o.arity(2, 2, 1));
  TRY(o.floating(o.in(0), o.in(0).shape.size()));
  TRY(o.is(o.in(1), o.in(0).dtype, o.in(0).shape));
  return o.is(o.out(0), o.in(0).dtype, o.in(0).shape);
}

Result<void> check_linear(const Operands& o) {
  TRY(o.arity(2, 3, 1));
  TRY(o.floating(o.in(0), 2));
  TRY(o.floating(o.in(1), 2));
  const Dim columns = o.in(1).shape[0];
  TRY(o.is(o.in(1), o.in(0).dtype, {columns, o.in(0).shape[1]}));
  if (o.inputs() == 3) {
    TRY(o.is(o.in(2), o.in(0).dtype, {columns}));
  }
  return o.is(o.out(0), o.in(0).dtype, {o.in(0).shape[0], columns});
}

Result<void> check_split(const Operands& o) {
  TRY(o.arity(1, 1, 3));
  TRY(o.floating(o.in(0), 2));
  TRY(o.floating(o.out(0), 3));
  TRY(o.floating(o.out(1), 3));
  const Dim rows = o.in(0).shape[0];
  const Dim q = o.out(0).shape[1];
  const Dim k = o.out(1).shape[1];
  const Dim dim = o.out(0).shape[2];
  const DType dtype = o.in(0).dtype;
  if (q.symbol != Symbol::kOne || k.symbol != Symbol::kOne || dim.symbol != Symbol::kOne) {
    return o.wrong("head counts and head dim must be plain numbers");
  }
  TRY(o.is(o.out(0), dtype, {rows, q, dim}));
  TRY(o.is(o.out(1), dtype, {rows, k, dim}));
  TRY(o.is(o.out(2), dtype, {rows, k, dim}));
  return o.is(o.in(0), dtype, {rows, fixed((q.factor + 2 * k.factor) * dim.factor)});
}

Result<void> check_rope(const Operands& o) {
  TRY(o.arity(2, 2, 1));
  TRY(o.floating(o.in(0), 3));
  TRY(o.is(o.in(1), DType::kI32, {o.in(0).shape[0]}));
  const std::int64_t rotary = o.attr("rotary_dim");
  if (rotary < 2 || rotary % 2 != 0 || rotary > o.in(0).shape[2].factor) {
    return o.wrong("rotary_dim " + std::to_string(rotary) + " is not an even part of the head");
  }
  return o.is(o.out(0), o.in(0).dtype, o.in(0).shape);
}

Result<void> check_kv_write(const Operands& o) {
  TRY(o.arity(5, 5, 2));
  TRY(o.floating(o.in(0), 3));
  TRY(o.floating(o.in(3), 3));
  const Shape& rows = o.in(0).shape;
  const DType dtype = o.in(0).dtype;
  const Shape cache{o.in(3).shape[0], rows[1], rows[2]};
  TRY(o.is(o.in(1), dtype, rows));
  TRY(o.is(o.in(2), DType::kI32, {rows[0]}));
  for (const Tensor* tensor : {&o.in(3), &o.in(4), &o.out(0), &o.out(1)}) {
    TRY(o.is(*tensor, dtype, cache));
  }
  return {};
}

Result<void> check_attention(const Operands& o) {
  TRY(o.arity(4, 4, 1));
  TRY(o.floating(o.in(0), 3));
  TRY(o.floating(o.in(1), 3));
  const Shape& q = o.in(0).shape;
  const Shape& cache = o.in(1).shape;
  const DType dtype = o.in(0).dtype;
  TRY(o.is(o.in(1), dtype, {cache[0], cache[1], q[2]}));
  TRY(o.is(o.in(2), dtype, cache));
  TRY(o.is(o.in(3), DType::kI32, {q[0]}));
  const bool plain =
      q[1].symbol == Symbol::kOne && cache[1].symbol == Symbol::kOne && q[2].symbol == Symbol::kOne;
  if (!plain || q[1].factor % cache[1].factor != 0) {
    return o.wrong("query heads must be a multiple of KV heads");
  }
  return o.is(o.out(0), dtype, {q[0], fixed(q[1].factor * q[2].factor)});
}

Result<void> check_silu_mul(const Operands& o) {
  TRY(o.arity(1, 1, 1));
  TRY(o.floating(o.in(0), 2));
  const Dim half = o.out(0).shape.empty() ? Dim{} : o.out(0).shape.back();
  TRY(o.is(o.out(0), o.in(0).dtype, {o.in(0).shape[0], half}));
  return o.is(o.in(0), o.in(0).dtype, {o.in(0).shape[0], Dim{half.symbol, 2 * half.factor}});
}

Result<void> check_router(const Operands& o, const Node& node) {
  TRY(o.arity(1, 2, 2));
  TRY(o.floating(o.in(0), 2));
  const Dim rows = o.in(0).shape[0];
  const Dim experts = o.in(0).shape[1];
  TRY(o.is(o.in(0), DType::kF32, {rows, experts}));
  if (o.inputs() == 2) {
    TRY(o.is(o.in(1), DType::kF32, {experts}));
  }
  const std::int64_t top_k = o.attr("top_k");
  const std::int64_t groups = o.attr("groups");
  const std::int64_t top_groups = o.attr("top_groups");
  const bool grouped = groups > 0 && experts.factor % groups == 0 && top_groups > 0 &&
                       top_groups <= groups && (groups == 1 || experts.factor / groups > 1);
  if (!grouped || top_k < 1 || top_k > experts.factor / groups * top_groups) {
    return o.wrong("top_k, groups and top_groups don't fit " + to_string(experts) + " experts");
  }
  const std::string function = node.attrs.text("function");
  if (function != "sigmoid" && function != "softmax") {
    return o.wrong("function must be sigmoid or softmax");
  }
  TRY(o.is(o.out(0), DType::kI32, {rows, fixed(top_k)}));
  return o.is(o.out(1), DType::kF32, {rows, fixed(top_k)});
}

Result<void> check_expert_linear(const Operands& o) {
  TRY(o.arity(3, 3, 1));
  TRY(o.floating(o.in(0), 2));
  TRY(o.floating(o.in(2), 3));
  if (o.in(1).shape.size() != 2) {
    return o.wrong("ids must be a matrix");
  }
  const Dim rows = o.in(1).shape[0];
  const Dim chosen = o.in(1).shape[1];
  const DType dtype = o.in(0).dtype;
  TRY(o.is(o.in(1), DType::kI32, {rows, fixed(chosen.factor)}));
  const Dim expanded{rows.symbol, rows.factor * chosen.factor};
  if (o.in(0).shape[0] != rows && o.in(0).shape[0] != expanded) {
    return o.wrong("its input has neither a row a token nor a row a choice");
  }
  TRY(o.is(o.in(2), dtype, {o.in(2).shape[0], o.in(2).shape[1], o.in(0).shape[1]}));
  return o.is(o.out(0), dtype, {expanded, o.in(2).shape[1]});
}

Result<void> check_finalize(const Operands& o) {
  TRY(o.arity(2, 2, 1));
  TRY(o.floating(o.in(0), 2));
  if (o.in(1).shape.size() != 2) {
    return o.wrong("weights must be a matrix");
  }
  const Dim rows = o.in(1).shape[0];
  const Dim chosen = o.in(1).shape[1];
  TRY(o.is(o.in(1), DType::kF32, {rows, fixed(chosen.factor)}));
  TRY(o.is(o.in(0), o.in(0).dtype,
           {Dim{rows.symbol, rows.factor * chosen.factor}, o.in(0).shape[1]}));
  return o.is(o.out(0), o.in(0).dtype, {rows, o.in(0).shape[1]});
}

Result<void> check_rows(const Operands& o, const Node& node) {
  TRY(o.arity(1, 1, 1));
  TRY(o.floating(o.in(0), 2));
  const Dim rows = o.in(0).shape[0];
  const Dim columns = o.in(0).shape[1];
  if (node.op == OpKind::kArgmax) {
    return o.is(o.out(0), DType::kI32, {rows});
  }
  if (node.op == OpKind::kSelectRows) {
    return o.is(o.out(0), o.in(0).dtype, {Dim{Symbol::kLogitRows, 1}, columns});
  }
  const std::int64_t group = o.attr("group");
  if (group < 2) {
    return o.wrong("a group has at least two ranks");
  }
  return o.is(o.out(0), o.in(0).dtype, {rows, Dim{columns.symbol, columns.factor * group}});
}

Result<void> check_same_shape(const Operands& o, const Node& node) {
  TRY(o.arity(1, 1, 1));
  TRY(o.floating(o.in(0), o.in(0).shape.size()));
  if (node.op == OpKind::kAllReduce && o.attr("group") < 2) {
    return o.wrong("a group has at least two ranks");
  }
  const DType dtype = node.op == OpKind::kCast ? o.out(0).dtype : o.in(0).dtype;
  TRY(o.floating(o.out(0), o.in(0).shape.size()));
  return o.is(o.out(0), dtype, o.in(0).shape);
}

Result<void> check_region(const Operands& o, const Node& node) {
  if (node.body == nullptr) {
    return o.wrong("a region needs a body");
  }
  for (const Graph* made_of : {node.body.get(), node.origin.get()}) {
    if (made_of == nullptr) {
      continue;
    }
    TRY(o.arity(made_of->inputs.size(), made_of->inputs.size(), made_of->outputs.size()));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor& inner = made_of->tensor(made_of->inputs[i]);
      TRY(o.is(o.in(i), inner.dtype, inner.shape));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Tensor& inner = made_of->tensor(made_of->outputs[i]);
      TRY(o.is(o.out(i), inner.dtype, inner.shape));
    }
  }
  return {};
}

}  // namespace

Result<void> check_node(const Graph& graph, const Node& node) {
  TRY(check_attrs(node));
  const Operands o(graph, node);
  switch (node.op) {
    case OpKind::kEmbedding:
      return check_embedding(o);
    case OpKind::kRmsNorm:
      return check_norm(o);
    case OpKind::kAdd:
      return check_add(o);
    case OpKind::kLinear:
      return check_linear(o);
    case OpKind::kSplit:
      return check_split(o);
    case OpKind::kRope:
      return check_rope(o);
    case OpKind::kKvWrite:
      return check_kv_write(o);
    case OpKind::kAttention:
      return check_attention(o);
    case OpKind::kSiluMul:
      return check_silu_mul(o);
    case OpKind::kRouterSelect:
      return check_router(o, node);
    case OpKind::kExpertLinear:
      return check_expert_linear(o);
    case OpKind::kMoeFinalize:
      return check_finalize(o);
    case OpKind::kCast:
    case OpKind::kAllReduce:
      return check_same_shape(o, node);
    case OpKind::kSelectRows:
    case OpKind::kArgmax:
    case OpKind::kAllGather:
      return check_rows(o, node);
    case OpKind::kRegion:
      return check_region(o, node);
  }
  return {};
}

}  // namespace fusefarm::graph
