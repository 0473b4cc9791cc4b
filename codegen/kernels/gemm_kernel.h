// y = x W^T (+ bias) over a prepacked weight: panels of 16 columns, 4 x 16 tiles of accumulators,
// blocks of K that keep the panel's slice in the first-level cache (Goto and van de Geijn 2008).
// Few rows (decode): the bf16 panel is widened in the inner loop. Many: once per slice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/kernels/row_kernels.h"

namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA {

constexpr std::int64_t kPanel = 16;
constexpr std::int64_t kDepth = 256;      // K per slice: 16 KB of f32 panel
constexpr std::int64_t kGroup = 8;        // panels that share one pass over x
constexpr std::int64_t kRowsMax = 64;     // rows whose accumulators are kept at once
constexpr std::int64_t kWidenRows = 12;   // from here on the panel is widened first
constexpr std::int64_t kRowPadding = 16;  // floats between rows of x: rows don't share cache sets
constexpr std::int64_t kPrefetchBytes = 1024;

struct GemmScratch {
  std::vector<float> x;
  std::vector<float> accumulators;
  std::vector<float> panel;
};

inline GemmScratch& gemm_scratch() {
  thread_local GemmScratch scratch;  // grows in the first launches only
  return scratch;
}

// accumulators[row][16] += x[row][0..depth) * panel slice, kRows rows.
template <int kRows, class W>
FUSEFARM_INLINE void multiply_tile(const float* x, std::int64_t x_stride, const W* panel,
                                   std::int64_t depth, float* accumulators) {
  F8 low[std::size_t{kRows}];
  F8 high[std::size_t{kRows}];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    low[r] = load8(accumulators + r * kPanel);
    high[r] = load8(accumulators + r * kPanel + kLanes);
  }
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < depth; ++k) {
    __builtin_prefetch(reinterpret_cast<const char*>(panel + k * kPanel) + kPrefetchBytes);
    const F8 w_low = load8(panel + k * kPanel);
    const F8 w_high = load8(panel + k * kPanel + kLanes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const F8 value = splat(x[r * x_stride + k]);
      low[r] = fma8(value, w_low, low[r]);
      high[r] = fma8(value, w_high, high[r]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    store8(accumulators + r * kPanel, low[r]);
    store8(accumulators + r * kPanel + kLanes, high[r]);
  }
}

template <class W>
void multiply_rows(const float* x, std::int64_t x_stride, std::int64_t rows, const W* panel,
                   std::int64_t depth, float* accumulators) {
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    multiply_tile<4>(x + row * x_stride, x_stride, panel, depth, accumulators + row * kPanel);
  }
  const float* rest = x + row * x_stride;
  float* out = accumulators + row * kPanel;
  switch (rows - row) {
    case 3:
      multiply_tile<3>(rest, x_stride, panel, depth, out);
      break;
    case 2:
      multiply_tile<2>(rest, x_stride, panel, depth, out);
      break;
    case 1:
      multiply_tile<1>(rest, x_stride, panel, depth, out);
      break;
    default:
      break;
  }
}

template <class X>
void widen_rows(const TensorArg& x, std::int64_t first, std::int64_t rows, std::int64_t stride,
                float* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const X* source = row_of<const X>(x, first + row);
    float* target = out + row * stride;
    std::int64_t k = 0;
    for (; k + kLanes <= x.columns; k += kLanes) {
      store8(target + k, load8(source + k));
    }
    for (; k < x.columns; ++k) {
      target[k] = load1(source + k);
    }
  }
}

// bias: null, or `columns` values of element type B.
template <class Y, class B>
void store_panel(const float* accumulators, std::int64_t rows, std::int64_t column,
                 const TensorArg& y, std::int64_t first, const B* bias) {
  const std::int64_t columns = std::min(kPanel, y.columns - column);
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* source = accumulators + row * kPanel;
    Y* target = row_of<Y>(y, first + row) + column;
    if (columns == kPanel) {
      for (std::int64_t c = 0; c < kPanel; c += kLanes) {
        const F8 value = load8(source + c);
        store8(target + c, bias == nullptr ? value : value + load8(bias + column + c));
      }
      continue;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      store1(target + c, bias == nullptr ? source[c] : source[c] + load1(bias + column + c));
    }
  }
}

// Rows [first, first + rows) of x times panels [panel, panel + panels), into accumulators.
template <class W>
void multiply_group(const float* x, std::int64_t x_stride, std::int64_t rows, std::int64_t depth,
                    const W* panels, std::int64_t count, GemmScratch& scratch) {
  float* accumulators = scratch.accumulators.data();
  std::fill_n(accumulators, count * kRowsMax * kPanel, 0.0F);
  const bool widen = sizeof(W) == 2 && rows >= kWidenRows;
  for (std::int64_t k = 0; k < depth; k += kDepth) {
    const std::int64_t slice = std::min(kDepth, depth - k);
    for (std::int64_t p = 0; p < count; ++p) {
      const W* panel = panels + p * kPanel * depth + k * kPanel;
      float* out = accumulators + p * kRowsMax * kPanel;
      if (widen) {
        for (std::int64_t i = 0; i < slice * kPanel; i += kLanes) {
          store8(scratch.panel.data() + i, load8(panel + i));
        }
        multiply_rows(x + k, x_stride, rows, scratch.panel.data(), slice, out);
      } else {
        multiply_rows(x + k, x_stride, rows, panel, slice, out);
      }
    }
  }
}

template <class W, class Y>
void multiply_panels(const TensorArg* t, const TensorArg* bias, const TensorArg& y, Share share) {
  const std::int64_t depth = t[0].columns;
  const std::int64_t stride = depth + kRowPadding;
  GemmScratch& scratch = gemm_scratch();
  const std::int64_t rows_max = std::min(kRowsMax, t[0].rows);
  scratch.x.resize(std::max(scratch.x.size(), static_cast<std::size_t>(rows_max * stride)));
  scratch.accumulators.resize(static_cast<std::size_t>(kGroup * kRowsMax * kPanel));
  scratch.panel.resize(static_cast<std::size_t>(kDepth * kPanel));
  const W* weight = static_cast<const W*>(t[1].data);
  for (std::int64_t first = 0; first < t[0].rows; first += kRowsMax) {
    const std::int64_t rows = std::min(kRowsMax, t[0].rows - first);
    with_type(t[0].dtype, [&]<class X>(const X*) {
      widen_rows<X>(t[0], first, rows, stride, scratch.x.data());
    });
    // Many rows: several panels share a slice of x. Few: the weight is read as one stream.
    const std::int64_t group = rows >= kWidenRows ? kGroup : 1;
    for (std::int64_t panel = share.begin; panel < share.end; panel += group) {
      const std::int64_t count = std::min(group, share.end - panel);
      multiply_group(scratch.x.data(), stride, rows, depth, weight + panel * kPanel * depth, count,
                     scratch);
      for (std::int64_t p = 0; p < count; ++p) {
        const float* source = scratch.accumulators.data() + p * kRowsMax * kPanel;
        const std::int64_t column = (panel + p) * kPanel;
        if (bias == nullptr) {
          store_panel<Y, float>(source, rows, column, y, first, nullptr);
        } else {
          with_type(bias->dtype, [&]<class B>(const B*) {
            store_panel<Y>(source, rows, column, y, first, static_cast<const B*>(bias->data));
          });
        }
      }
    }
  }
}

inline void multiply(const TensorArg* t, const TensorArg* bias, const TensorArg& y, int thread,
                     int threads) {
  const Share share = share_of((y.columns + kPanel - 1) / kPanel, thread, threads);
  if (share.begin == share.end) {
    return;
  }
  with_type(t[1].dtype, [&]<class W>(const W*) {
    with_type(y.dtype, [&]<class Y>(const Y*) { multiply_panels<W, Y>(t, bias, y, share); });
  });
}

inline void linear(const KernelParams&, const TensorArg* t, int thread, int threads) {
  multiply(t, nullptr, t[2], thread, threads);
}

inline void linear_with_bias(const KernelParams&, const TensorArg* t, int thread, int threads) {
  multiply(t, t + 2, t[3], thread, threads);
}

}  // namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA
