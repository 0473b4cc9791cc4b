// Mixture of experts: router, expert layers, weighted sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "codegen/kernels/row_kernels.h"

namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA {

struct RouterScratch {
  std::vector<float> score;   // what the weights are made of
  std::vector<float> biased;  // what the choice is made by
  std::vector<float> group;
};

inline RouterScratch& router_scratch() {
  thread_local RouterScratch scratch;  // grows in the first launches only
  return scratch;
}

inline void router_scores(const KernelParams& params, const float* logits, const float* bias,
                          std::int64_t experts, RouterScratch& scratch) {
  const auto count = static_cast<std::size_t>(experts);
  scratch.score.assign(logits, logits + experts);
  float* score = scratch.score.data();
  if (params.softmax) {
    const float best = *std::max_element(logits, logits + experts);
    float total = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
      score[e] = exp8(splat(logits[e] - best))[0];
      total += score[e];
    }
    for (std::int64_t e = 0; e < experts; ++e) {
      score[e] /= total;
    }
  } else {
    for (std::int64_t e = 0; e < experts; ++e) {
      score[e] = 1.0F / (1.0F + exp8(splat(-logits[e]))[0]);
    }
  }
  scratch.biased = scratch.score;
  for (std::size_t e = 0; bias != nullptr && e < count; ++e) {
    scratch.biased[e] += bias[e];
  }
}

// Only experts of the best groups stay eligible; a group counts by its two best members.
inline void keep_best_groups(const KernelParams& params, std::int64_t experts,
                             RouterScratch& scratch) {
  if (params.groups <= 1 || params.top_groups >= params.groups) {
    return;
  }
  const std::int64_t size = experts / params.groups;
  scratch.group.clear();
  for (std::int64_t g = 0; g < params.groups; ++g) {
    float first = -INFINITY;
    float second = -INFINITY;
    for (std::int64_t e = g * size; e < (g + 1) * size; ++e) {
      const float value = scratch.biased[static_cast<std::size_t>(e)];
      if (value > first) {
        second = first;
        first = value;
      } else if (value > second) {
        second = value;
      }
    }
    scratch.group.push_back(size > 1 ? first + second : first);
  }
  std::int64_t kept = params.groups;
  while (kept > params.top_groups) {  // drop the worst; of equals the later one
    std::size_t worst = 0;
    for (std::size_t g = 1; g < scratch.group.size(); ++g) {
      worst = scratch.group[g] <= scratch.group[worst] ? g : worst;
    }
    scratch.group[worst] = INFINITY;
    std::fill_n(scratch.biased.begin() + static_cast<std::int64_t>(worst) * size, size, -INFINITY);
    --kept;
  }
}

inline void choose_experts(const KernelParams& params, RouterScratch& scratch, std::int32_t* ids,
                           float* weights) {
  float total = 0;
  for (std::int64_t i = 0; i < params.top_k; ++i) {
    const auto best = std::max_element(scratch.biased.begin(), scratch.biased.end());
    const auto expert = static_cast<std::size_t>(best - scratch.biased.begin());
    *best = -INFINITY;
    ids[i] = static_cast<std::int32_t>(expert);
    weights[i] = scratch.score[expert];
    total += weights[i];
  }
  const float divisor = params.renormalise ? total + 1e-20F : 1.0F;
  for (std::int64_t i = 0; i < params.top_k; ++i) {
    weights[i] = weights[i] / divisor * params.scale;
  }
}

inline void route(const KernelParams& params, const TensorArg* t, const float* bias,
                  const TensorArg& ids, const TensorArg& weights, Share share) {
  RouterScratch& scratch = router_scratch();
  for (std::int64_t row = share.begin; row < share.end; ++row) {
    router_scores(params, row_of<const float>(t[0], row), bias, t[0].columns, scratch);
    keep_best_groups(params, t[0].columns, scratch);
    choose_experts(params, scratch, row_of<std::int32_t>(ids, row), row_of<float>(weights, row));
  }
}

inline void router_select(const KernelParams& params, const TensorArg* t, int thread, int threads) {
  route(params, t, nullptr, t[1], t[2], share_of(t[0].rows, thread, threads));
}

inline void router_with_bias(const KernelParams& params, const TensorArg* t, int thread,
                             int threads) {
  route(params, t, static_cast<const float*>(t[1].data), t[2], t[3],
        share_of(t[0].rows, thread, threads));
}

// Dot products of one row of x with four rows of the expert's weight.
template <class X, class W>
void expert_rows(const X* x, const W* weight, std::int64_t stride, std::int64_t count,
                 std::int64_t depth, float* out) {
  F8 sums[4] = {};
  std::int64_t k = 0;
  if (count == 4) {
    for (; k + kLanes <= depth; k += kLanes) {
      const F8 value = load8(x + k);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        sums[i] = fma8(value, load8(weight + i * stride + k), sums[i]);
      }
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    float total = sum8(sums[i]);
    for (std::int64_t j = k; j < depth; ++j) {
      total += load1(x + j) * load1(weight + i * stride + j);
    }
    out[i] = total;
  }
}

// t: x, ids, weight [E, N * K], y. Threads share the columns, so that each expert row is read by
// one.
inline void expert_linear(const KernelParams& params, const TensorArg* t, int thread, int threads) {
  const std::int64_t depth = t[0].columns;
  const Share share = share_of(t[3].columns, thread, threads);
  const std::int64_t expansion = t[3].rows / t[0].rows;  // k, or 1 when x is already expanded
  const auto* ids = static_cast<const std::int32_t*>(t[1].data);
  with_type(t[0].dtype, [&]<class X>(const X*) {
    with_type(t[2].dtype, [&]<class W>(const W*) {
      const W* weights = static_cast<const W*>(t[2].data);
      for (std::int64_t n = share.begin; n < share.end; n += 4) {
        const std::int64_t count = std::min<std::int64_t>(4, share.end - n);
        for (std::int64_t row = 0; row < t[3].rows; ++row) {
          const std::int64_t expert =
              ids[row / params.top_k * t[1].row_stride + row % params.top_k];
          X* y = row_of<X>(t[3], row) + n;
          float out[4] = {};
          if (expert >= 0 && expert < t[2].rows) {
            expert_rows(row_of<const X>(t[0], row / expansion),
                        weights + expert * t[2].row_stride + n * depth, depth, count, depth, out);
          }
          for (std::int64_t i = 0; i < count; ++i) {
            store1(y + i, out[i]);
          }
        }
      }
    });
  });
}

inline void moe_finalize(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[2].rows, thread, threads);
  const std::int64_t k = t[1].columns;
  with_type(t[0].dtype, [&]<class X>(const X*) {
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const float* weights = row_of<const float>(t[1], row);
      X* y = row_of<X>(t[2], row);
      std::int64_t c = 0;
      for (; c + kLanes <= t[2].columns; c += kLanes) {
        F8 sum = {};
        for (std::int64_t i = 0; i < k; ++i) {
          sum = fma8(splat(weights[i]), load8(row_of<const X>(t[0], row * k + i) + c), sum);
        }
        store8(y + c, sum);
      }
      for (; c < t[2].columns; ++c) {
        float sum = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          sum += weights[i] * load1(row_of<const X>(t[0], row * k + i) + c);
        }
        store1(y + c, sum);
      }
    }
  });
}

}  // namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA
