// All kernels of one instruction set as a table.
#pragma once

#include "codegen/kernels/attention_kernel.h"
#include "codegen/kernels/gemm_kernel.h"
#include "codegen/kernels/moe_kernels.h"
#include "codegen/kernels/row_kernels.h"

namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA {

inline KernelTable build_table() {
  using graph::OpKind;
  KernelTable table;
  const auto set = [&](OpKind op, KernelFunction function) {
    table.function[static_cast<std::size_t>(op)] = function;
  };
  set(OpKind::kEmbedding, embedding);
  set(OpKind::kRmsNorm, rms_norm);
  set(OpKind::kAdd, add);
  set(OpKind::kLinear, linear);
  set(OpKind::kRope, rope);
  set(OpKind::kKvWrite, kv_write);
  set(OpKind::kAttention, attention);
  set(OpKind::kSiluMul, silu_mul);
  set(OpKind::kRouterSelect, router_select);
  set(OpKind::kExpertLinear, expert_linear);
  set(OpKind::kMoeFinalize, moe_finalize);
  set(OpKind::kCast, cast);
  set(OpKind::kSelectRows, select_rows);
  set(OpKind::kArgmax, argmax);
  table.linear_with_bias = linear_with_bias;
  table.router_with_bias = router_with_bias;
  return table;
}

}  // namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA
