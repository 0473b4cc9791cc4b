// The seam between the dispatcher and its two builds of the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/kernels/builtin.h"
#include "codegen/kernels/rope_table.h"
#include "graph/op.h"

namespace fusefarm::codegen {

// Attributes of a step, resolved once.
struct KernelParams {
  float eps = 0;
  std::int64_t head_dim = 0;  // columns per head; rms_norm: columns per normalised group
  std::int64_t sequences = 1;
  std::int64_t vocab_begin = 0;
  float scale = 1;  // attention, router_select
  bool causal = true;
  std::int64_t top_k = 0, groups = 1, top_groups = 1;
  bool renormalise = false, softmax = false;
  std::int64_t rotary_dim = 0;
  bool interleaved = false;
  std::shared_ptr<const RopeTable> rope;  // shared by all rope steps of the same parameters
};

using KernelFunction = void (*)(const KernelParams& params, const TensorArg* tensors, int thread,
                                int threads);

constexpr std::size_t kOpCount = static_cast<std::size_t>(graph::OpKind::kRegion) + 1;

struct KernelTable {
  std::array<KernelFunction, kOpCount> function{};  // nullptr: no baseline kernel
  KernelFunction linear_with_bias = nullptr;
  KernelFunction router_with_bias = nullptr;
};

const KernelTable& portable_kernel_table();
const KernelTable& avx2_kernel_table();  // the portable one where the compiler can't target AVX2

// The half-open share of `thread` in `count` units.
struct Share {
  std::int64_t begin = 0, end = 0;
};

constexpr Share share_of(std::int64_t count, int thread, int threads) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

}  // namespace fusefarm::codegen
