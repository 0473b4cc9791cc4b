// Row-wise baseline kernels: norms, adds, gating, rope, gathers, KV writes, argmax.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "codegen/kernels/kernel_table.h"
#include "codegen/kernels/simd.h"

namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA {

// Calls body with a null pointer of the element type, f32 or bf16.
template <class Body>
FUSEFARM_INLINE void with_type(graph::DType dtype, const Body& body) {
  if (dtype == graph::DType::kBF16) {
    body(static_cast<const Bf16*>(nullptr));
  } else {
    body(static_cast<const float*>(nullptr));
  }
}

template <class T>
FUSEFARM_INLINE T* row_of(const TensorArg& tensor, std::int64_t row) {
  return static_cast<T*>(tensor.data) + row * tensor.row_stride;
}

template <class X, class W>
void rms_norm_group(const X* x, const W* weight, X* y, std::int64_t columns, float eps) {
  F8 sums[4] = {};
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    for (int i = 0; i < 4; ++i) {
      const F8 v = load8(x + c + i * kLanes);
      sums[i] = fma8(v, v, sums[i]);
    }
  }
  for (; c + kLanes <= columns; c += kLanes) {
    const F8 v = load8(x + c);
    sums[0] = fma8(v, v, sums[0]);
  }
  float total = sum8((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; c < columns; ++c) {
    total += load1(x + c) * load1(x + c);
  }
  const float scale = 1.0F / std::sqrt(total / static_cast<float>(columns) + eps);
  for (c = 0; c + kLanes <= columns; c += kLanes) {
    store8(y + c, load8(x + c) * splat(scale) * load8(weight + c));
  }
  for (; c < columns; ++c) {
    store1(y + c, load1(x + c) * scale * load1(weight + c));
  }
}

inline void rms_norm(const KernelParams& params, const TensorArg* t, int thread, int threads) {
  const std::int64_t width = params.head_dim;
  const std::int64_t groups = t[0].columns / width;
  const Share share = share_of(t[0].rows * groups, thread, threads);
  with_type(t[0].dtype, [&]<class X>(const X*) {
    with_type(t[1].dtype, [&]<class W>(const W*) {
      for (std::int64_t unit = share.begin; unit < share.end; ++unit) {
        const std::int64_t row = unit / groups;
        const std::int64_t column = unit % groups * width;
        rms_norm_group(row_of<const X>(t[0], row) + column, static_cast<const W*>(t[1].data),
                       row_of<X>(t[2], row) + column, width, params.eps);
      }
    });
  });
}

inline void add(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[0].rows, thread, threads);
  with_type(t[0].dtype, [&]<class X>(const X*) {
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const X* a = row_of<const X>(t[0], row);
      const X* b = row_of<const X>(t[1], row);
      X* y = row_of<X>(t[2], row);
      std::int64_t c = 0;
      for (; c + kLanes <= t[0].columns; c += kLanes) {
        store8(y + c, load8(a + c) + load8(b + c));
      }
      for (; c < t[0].columns; ++c) {
        store1(y + c, load1(a + c) + load1(b + c));
      }
    }
  });
}

inline void silu_mul(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[0].rows, thread, threads);
  const std::int64_t half = t[1].columns;
  with_type(t[0].dtype, [&]<class X>(const X*) {
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const X* gate = row_of<const X>(t[0], row);
      const X* up = gate + half;
      X* y = row_of<X>(t[1], row);
      std::int64_t c = 0;
      for (; c + kLanes <= half; c += kLanes) {
        store8(y + c, silu8(load8(gate + c)) * load8(up + c));
      }
      for (; c < half; ++c) {
        store1(y + c, silu8(splat(load1(gate + c)))[0] * load1(up + c));
      }
    }
  });
}

// Copies rows, converting where the element types differ. Also views that need memory of their own.
inline void cast(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[1].rows, thread, threads);
  if (t[0].dtype == t[1].dtype) {
    const auto bytes = static_cast<std::size_t>(graph::bytes_of(t[0].dtype));
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      std::memcpy(
          static_cast<char*>(t[1].data) + static_cast<std::size_t>(row * t[1].row_stride) * bytes,
          static_cast<char*>(t[0].data) + static_cast<std::size_t>(row * t[0].row_stride) * bytes,
          static_cast<std::size_t>(t[1].columns) * bytes);
    }
    return;
  }
  with_type(t[0].dtype, [&]<class X>(const X*) {
    with_type(t[1].dtype, [&]<class Y>(const Y*) {
      for (std::int64_t row = share.begin; row < share.end; ++row) {
        const X* x = row_of<const X>(t[0], row);
        Y* y = row_of<Y>(t[1], row);
        std::int64_t c = 0;
        for (; c + kLanes <= t[1].columns; c += kLanes) {
          store8(y + c, load8(x + c));
        }
        for (; c < t[1].columns; ++c) {
          store1(y + c, load1(x + c));
        }
      }
    });
  });
}

inline void embedding(const KernelParams& params, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[2].rows, thread, threads);
  const auto* ids = static_cast<const std::int32_t*>(t[0].data);
  const auto bytes = static_cast<std::size_t>(graph::bytes_of(t[2].dtype));
  const std::size_t row_bytes = static_cast<std::size_t>(t[2].columns) * bytes;
  for (std::int64_t row = share.begin; row < share.end; ++row) {
    char* y =
        static_cast<char*>(t[2].data) + static_cast<std::size_t>(row * t[2].row_stride) * bytes;
    const std::int64_t id = ids[row] - params.vocab_begin;
    if (id < 0 || id >= t[1].rows) {
      std::memset(y, 0, row_bytes);  // another rank's row
    } else {
      std::memcpy(y,
                  static_cast<const char*>(t[1].data) +
                      static_cast<std::size_t>(id * t[1].row_stride) * bytes,
                  row_bytes);
    }
  }
}

inline void select_rows(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[1].rows, thread, threads);
  const auto bytes = static_cast<std::size_t>(graph::bytes_of(t[1].dtype));
  for (std::int64_t row = share.begin; row < share.end; ++row) {
    const std::int64_t source = (row + 1) * t[0].rows / t[1].rows - 1;
    std::memcpy(
        static_cast<char*>(t[1].data) + static_cast<std::size_t>(row * t[1].row_stride) * bytes,
        static_cast<char*>(t[0].data) + static_cast<std::size_t>(source * t[0].row_stride) * bytes,
        static_cast<std::size_t>(t[1].columns) * bytes);
  }
}

// t: k, v, slots, k cache, v cache, and the same caches as outputs.
inline void kv_write(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[0].rows, thread, threads);
  const auto* slots = static_cast<const std::int32_t*>(t[2].data);
  const auto bytes = static_cast<std::size_t>(graph::bytes_of(t[0].dtype));
  for (std::int64_t row = share.begin; row < share.end; ++row) {
    const std::int64_t slot = slots[row];
    if (slot < 0 || slot >= t[5].rows) {
      continue;  // nowhere to write: never outside the cache
    }
    for (int i = 0; i < 2; ++i) {
      std::memcpy(
          static_cast<char*>(t[5 + i].data) +
              static_cast<std::size_t>(slot * t[5 + i].row_stride) * bytes,
          static_cast<char*>(t[i].data) + static_cast<std::size_t>(row * t[i].row_stride) * bytes,
          static_cast<std::size_t>(t[i].columns) * bytes);
    }
  }
}

template <class X>
void rotate_halves(const X* x, X* y, const float* cosines, std::int64_t half) {
  const float* sines = cosines + half;
  std::int64_t c = 0;
  for (; c + kLanes <= half; c += kLanes) {
    const F8 a = load8(x + c);
    const F8 b = load8(x + half + c);
    const F8 cosine = load8(cosines + c);
    const F8 sine = load8(sines + c);
    store8(y + c, a * cosine - b * sine);
    store8(y + half + c, b * cosine + a * sine);
  }
  for (; c < half; ++c) {
    const float a = load1(x + c);
    const float b = load1(x + half + c);
    store1(y + c, a * cosines[c] - b * sines[c]);
    store1(y + half + c, b * cosines[c] + a * sines[c]);
  }
}

template <class X>
void rotate_pairs(const X* x, X* y, const float* cosines, std::int64_t half) {
  for (std::int64_t c = 0; c < half; ++c) {
    const float a = load1(x + 2 * c);
    const float b = load1(x + 2 * c + 1);
    store1(y + 2 * c, a * cosines[c] - b * cosines[half + c]);
    store1(y + 2 * c + 1, b * cosines[c] + a * cosines[half + c]);
  }
}

inline void rope(const KernelParams& params, const TensorArg* t, int thread, int threads) {
  const std::int64_t width = params.head_dim;
  const std::int64_t groups = t[0].columns / width;
  const std::int64_t half = params.rotary_dim / 2;
  const auto* positions = static_cast<const std::int32_t*>(t[1].data);
  const Share share = share_of(t[0].rows * groups, thread, threads);
  constexpr std::int64_t kHalfMax = 512;  // checked by prepare()
  float scratch[2 * kHalfMax];
  with_type(t[0].dtype, [&]<class X>(const X*) {
    for (std::int64_t unit = share.begin; unit < share.end; ++unit) {
      const std::int64_t row = unit / groups;
      const X* x = row_of<const X>(t[0], row) + unit % groups * width;
      X* y = row_of<X>(t[2], row) + unit % groups * width;
      const float* cosines = params.rope->cosines(positions[row], scratch);
      if (params.interleaved) {
        rotate_pairs(x, y, cosines, half);
      } else {
        rotate_halves(x, y, cosines, half);
      }
      for (std::int64_t c = params.rotary_dim; c < width; ++c) {
        y[c] = x[c];
      }
    }
  });
}

template <class X>
std::int32_t argmax_row(const X* x, std::int64_t columns) {
  F8 best = splat(-INFINITY);
  I8 best_at = {-1, -1, -1, -1, -1, -1, -1, -1};
  I8 at = {0, 1, 2, 3, 4, 5, 6, 7};
  std::int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes, at += 8) {
    const F8 v = load8(x + c);
    const I8 better = reinterpret_cast<I8>(v > best);
    best = v > best ? v : best;
    best_at = (at & better) | (best_at & ~better);
  }
  float value = -INFINITY;
  std::int32_t index = 0;
  bool found = false;
  const auto consider = [&](float v, std::int32_t i) {
    if (v > value || (found && v == value && i < index) || (!found && v == value)) {
      value = v;
      index = i;
      found = true;
    }
  };
  for (int i = 0; i < kLanes; ++i) {
    if (best_at[i] >= 0) {
      consider(best[i], best_at[i]);
    }
  }
  for (; c < columns; ++c) {
    consider(load1(x + c), static_cast<std::int32_t>(c));
  }
  return index;
}

inline void argmax(const KernelParams&, const TensorArg* t, int thread, int threads) {
  const Share share = share_of(t[0].rows, thread, threads);
  auto* ids = static_cast<std::int32_t*>(t[1].data);
  with_type(t[0].dtype, [&]<class X>(const X*) {
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      ids[row] = argmax_row(row_of<const X>(t[0], row), t[0].columns);
    }
  });
}

}  // namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA
