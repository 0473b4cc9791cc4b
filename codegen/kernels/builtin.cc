#include "codegen/kernels/builtin.h"

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codegen/kernels/kernel_table.h"
#include "codegen/kernels/rope_table.h"

namespace fusefarm::codegen {

struct KernelState {
  KernelFunction function = nullptr;
  KernelParams params;
  std::size_t tensors = 0;
};

namespace {

using graph::DType;
using graph::OpKind;

std::atomic<bool> portable_only{false};

bool cpu_has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

const KernelTable& table() {
  return has_vector_kernels() ? avx2_kernel_table() : portable_kernel_table();
}

// One table for all layers: they have the same frequencies.
std::shared_ptr<const RopeTable> shared_rope_table(const std::vector<double>& frequencies,
                                                   std::int64_t positions) {
  static std::mutex mutex;
  static std::map<std::pair<std::vector<double>, std::int64_t>, std::weak_ptr<const RopeTable>>
      tables;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const RopeTable>& entry = tables[{frequencies, positions}];
  std::shared_ptr<const RopeTable> table = entry.lock();
  if (!table) {
    table = std::make_shared<const RopeTable>(frequencies, positions);
    entry = table;
  }
  return table;
}

struct Arity {
  std::size_t least, most;
};

Arity arity_of(OpKind op) {
  switch (op) {
    case OpKind::kSiluMul:
    case OpKind::kCast:
    case OpKind::kSelectRows:
    case OpKind::kArgmax:
      return {2, 2};
    case OpKind::kLinear:
      return {3, 4};
    case OpKind::kRouterSelect:
      return {3, 4};
    case OpKind::kKvWrite:
      return {7, 7};
    case OpKind::kAttention:
      return {5, 5};
    case OpKind::kExpertLinear:
      return {4, 4};
    default:
      return {3, 3};
  }
}

Error wrong(OpKind op, const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, std::string(graph::to_string(op)) + ": " + what};
}

Result<void> check_heads(OpKind op, const TensorArg& tensor, std::int64_t dim) {
  if (dim <= 0 || tensor.columns % dim != 0) {
    return wrong(op, "columns " + std::to_string(tensor.columns) + " are no multiple of head_dim " +
                         std::to_string(dim));
  }
  return {};
}

Result<void> check_linear(std::span<const TensorArg> t) {
  const TensorArg& y = t.back();
  const PreparedLayout expected = packed_linear_layout(t[1].dtype);
  if (t[1].layout != expected) {
    return wrong(OpKind::kLinear, "the weight is not packed as packed_linear_layout() says");
  }
  if (t[1].columns != expected.panel * t[0].columns ||
      t[1].rows != (y.columns + expected.panel - 1) / expected.panel || t[0].rows != y.rows) {
    return wrong(OpKind::kLinear, "shapes of x, weight and y contradict each other");
  }
  return {};
}

Result<void> check_attention(std::span<const TensorArg> t, const KernelParams& params) {
  TRY(check_heads(OpKind::kAttention, t[0], params.head_dim));
  TRY(check_heads(OpKind::kAttention, t[1], params.head_dim));
  constexpr std::int64_t kHeadDimMax = 512;
  if (params.head_dim % 8 != 0 || params.head_dim > kHeadDimMax) {
    return wrong(OpKind::kAttention, "head_dim " + std::to_string(params.head_dim) +
                                         " is not a multiple of 8 up to 512");
  }
  if (params.sequences <= 0 || t[0].rows % params.sequences != 0 ||
      t[1].rows % params.sequences != 0 || t[0].columns % t[1].columns != 0) {
    return wrong(OpKind::kAttention, "sequences or heads don't divide the tensors");
  }
  return {};
}

Result<void> check_shapes(OpKind op, const KernelParams& params, std::span<const TensorArg> t) {
  const Arity arity = arity_of(op);
  if (t.size() < arity.least || t.size() > arity.most) {
    return wrong(op, std::to_string(t.size()) + " tensors");
  }
  switch (op) {
    case OpKind::kLinear:
      return check_linear(t);
    case OpKind::kAttention:
      return check_attention(t, params);
    case OpKind::kRmsNorm:
      return check_heads(op, t[0], params.head_dim);
    case OpKind::kRope:
      if (params.rotary_dim > params.head_dim || params.rotary_dim > 1024) {
        return wrong(op, "rotary_dim " + std::to_string(params.rotary_dim) + " is out of range");
      }
      return check_heads(op, t[0], params.head_dim);
    case OpKind::kSiluMul:
      if (t[0].columns != 2 * t[1].columns) {
        return wrong(op, "the output is not half of the input");
      }
      return {};
    case OpKind::kRouterSelect:
      if (params.top_k <= 0 || params.groups <= 0 || t[0].columns % params.groups != 0 ||
          params.top_k > t[0].columns) {
        return wrong(op, "top_k or groups don't fit the number of experts");
      }
      return {};
    case OpKind::kExpertLinear:
      if (params.top_k <= 0 || t[0].rows <= 0 || t[3].rows % t[0].rows != 0) {
        return wrong(op, "rows of x and y contradict each other");
      }
      return {};
    default:
      return {};
  }
}

KernelParams params_of(OpKind op, const graph::Attrs& attrs, std::span<const TensorArg> t) {
  KernelParams params;
  params.eps = static_cast<float>(attrs.real("eps", 0));
  params.head_dim = attrs.integer("head_dim", 0);
  params.sequences = attrs.integer("sequences", 1);
  params.vocab_begin = attrs.integer("vocab_begin", 0);
  params.scale = static_cast<float>(attrs.real("scale", 1));
  params.causal = attrs.integer("causal", 1) != 0;
  params.top_k = attrs.integer("top_k", 0);
  params.groups = attrs.integer("groups", 1);
  params.top_groups = attrs.integer("top_groups", params.groups);
  params.renormalise = attrs.integer("renormalise", 0) != 0;
  params.softmax = attrs.text("function", "softmax") == "softmax";
  if (op == OpKind::kRmsNorm && params.head_dim == 0 && t.size() > 1) {
    params.head_dim = t[1].rows * t[1].columns;  // the weight spans what is normalised
  }
  if (op == OpKind::kExpertLinear && t.size() > 1) {
    params.top_k = t[1].columns;
  }
  if (op == OpKind::kRope) {
    params.rotary_dim = rope_rotary_dim(attrs, params.head_dim);
    params.interleaved = attrs.integer("interleaved", 0) != 0;
  }
  return params;
}

}  // namespace

bool has_vector_kernels() {
  return cpu_has_avx2() && !portable_only.load(std::memory_order_relaxed);
}

void force_portable_kernels(bool portable) {
  portable_only.store(portable, std::memory_order_relaxed);
}

PreparedLayout packed_linear_layout(graph::DType weight_dtype) {
  PreparedLayout layout;
  layout.panel = 16;
  layout.dtype = weight_dtype;
  return layout;
}

Result<BuiltinKernel> BuiltinKernel::prepare(OpKind op, const graph::Attrs& attrs,
                                             std::span<const TensorArg> tensors) {
  auto state = std::make_shared<KernelState>();
  state->function = table().function[static_cast<std::size_t>(op)];
  if (state->function == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 std::string(graph::to_string(op)) + " has no baseline CPU kernel"};
  }
  if (op == OpKind::kLinear && tensors.size() == 4) {
    state->function = table().linear_with_bias;
  }
  if (op == OpKind::kRouterSelect && tensors.size() == 4) {
    state->function = table().router_with_bias;
  }
  state->params = params_of(op, attrs, tensors);
  state->tensors = tensors.size();
  TRY(check_shapes(op, state->params, tensors));
  if (op == OpKind::kRope) {
    state->params.rope = shared_rope_table(rope_frequencies(attrs, state->params.head_dim),
                                           attrs.integer("max_position", 0));
  }
  BuiltinKernel kernel;
  kernel.state_ = std::move(state);
  return kernel;
}

void BuiltinKernel::run(std::span<const TensorArg> tensors, int thread, int threads) const {
  FUSEFARM_CHECK(state_ && tensors.size() == state_->tensors, "tensors differ from prepare()");
  state_->function(state_->params, tensors.data(), thread, threads);
}

}  // namespace fusefarm::codegen
