// Attention with an online softmax (Milakov 2018; FlashAttention, Dao 2022): keys and values are
// read once, scores never leave the cache. A unit of work is a few query rows that share keys: the
// heads of one group, over one or several tokens.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "codegen/kernels/row_kernels.h"

namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA {

constexpr std::int64_t kSlotChunk = 64;
constexpr std::int64_t kHeadDimMax = 512;  // checked by prepare()
constexpr int kQueryRowsMax = 4;

struct QueryBlock {
  float query[kQueryRowsMax][kHeadDimMax];   // scaled
  float result[kQueryRowsMax][kHeadDimMax];  // running, unnormalised
  float score[kQueryRowsMax][kSlotChunk];
  float best[kQueryRowsMax];
  float total[kQueryRowsMax];
  std::int64_t visible[kQueryRowsMax];  // slots of the sequence that the row sees
};

// Scores of Q query rows against kSlots keys at a time: 8 accumulators.
template <int Q, int kSlots, class T>
FUSEFARM_INLINE void score_slots(QueryBlock& block, const T* keys, std::int64_t stride,
                                 std::int64_t dim, std::int64_t at) {
  F8 sums[std::size_t{Q}][std::size_t{kSlots}] = {};
  for (std::int64_t d = 0; d < dim; d += kLanes) {
    F8 key[std::size_t{kSlots}];
#pragma GCC unroll 8
    for (int s = 0; s < kSlots; ++s) {
      key[s] = load8(keys + s * stride + d);
    }
#pragma GCC unroll 4
    for (int q = 0; q < Q; ++q) {
      const F8 query = load8(block.query[q] + d);
#pragma GCC unroll 8
      for (int s = 0; s < kSlots; ++s) {
        sums[q][s] = fma8(query, key[s], sums[q][s]);
      }
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < Q; ++q) {
#pragma GCC unroll 8
    for (int s = 0; s < kSlots; ++s) {
      block.score[q][at + s] = sum8(sums[q][s]);
    }
  }
}

template <int Q, class T>
FUSEFARM_INLINE void accumulate_values(QueryBlock& block, const T* values, std::int64_t stride,
                                       std::int64_t dim, std::int64_t count) {
  constexpr int kVectors = Q == 4 ? 2 : 4;
  std::int64_t d = 0;
  for (; d + kVectors * kLanes <= dim; d += kVectors * kLanes) {
    F8 sums[std::size_t{Q}][std::size_t{kVectors}];
#pragma GCC unroll 4
    for (int q = 0; q < Q; ++q) {
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        sums[q][i] = load8(block.result[q] + d + i * kLanes);
      }
    }
    for (std::int64_t s = 0; s < count; ++s) {
      F8 value[std::size_t{kVectors}];
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        value[i] = load8(values + s * stride + d + i * kLanes);
      }
#pragma GCC unroll 4
      for (int q = 0; q < Q; ++q) {
        const F8 p = splat(block.score[q][s]);
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i) {
          sums[q][i] = fma8(p, value[i], sums[q][i]);
        }
      }
    }
#pragma GCC unroll 4
    for (int q = 0; q < Q; ++q) {
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        store8(block.result[q] + d + i * kLanes, sums[q][i]);
      }
    }
  }
  for (; d < dim; d += kLanes) {
    for (int q = 0; q < Q; ++q) {
      F8 sum = load8(block.result[q] + d);
      for (std::int64_t s = 0; s < count; ++s) {
        sum = fma8(splat(block.score[q][s]), load8(values + s * stride + d), sum);
      }
      store8(block.result[q] + d, sum);
    }
  }
}

// Turns scores [begin, begin + count) into weights relative to the running maximum.
inline void soften(QueryBlock& block, int q, std::int64_t begin, std::int64_t count,
                   std::int64_t dim) {
  float* score = block.score[q];
  const std::int64_t padded = (count + kLanes - 1) / kLanes * kLanes;
  for (std::int64_t s = 0; s < padded; ++s) {
    if (s >= count || begin + s >= block.visible[q]) {
      score[s] = -INFINITY;
    }
  }
  F8 top = splat(block.best[q]);
  for (std::int64_t s = 0; s < padded; s += kLanes) {
    top = max8(load8(score + s), top);  // a NaN score reaches the weights below
  }
  const float best = max_lane(top);
  const float shift = best == -INFINITY ? 0.0F : best;
  const float rescale = exp8(splat(block.best[q] - shift))[0];
  F8 sum = splat(0.0F);
  for (std::int64_t s = 0; s < padded; s += kLanes) {
    const F8 raw = load8(score + s);
    const F8 weight = raw == splat(-INFINITY) ? splat(0.0F) : exp8(raw - splat(shift));
    store8(score + s, weight);
    sum += weight;
  }
  block.total[q] = block.total[q] * rescale + sum8(sum);
  if (rescale != 1.0F) {
    for (std::int64_t d = 0; d < dim; d += kLanes) {
      store8(block.result[q] + d, load8(block.result[q] + d) * splat(rescale));
    }
  }
  block.best[q] = best;
}

template <int Q, class T>
void attend(QueryBlock& block, const T* keys, const T* values, std::int64_t key_stride,
            std::int64_t value_stride, std::int64_t dim) {
  constexpr int kSlots = 8 / Q;
  std::int64_t slots = 0;
  for (int q = 0; q < Q; ++q) {
    slots = std::max(slots, block.visible[q]);
  }
  for (std::int64_t begin = 0; begin < slots; begin += kSlotChunk) {
    const std::int64_t count = std::min(kSlotChunk, slots - begin);
    const T* chunk = keys + begin * key_stride;
    std::int64_t s = 0;
    for (; s + kSlots <= count; s += kSlots) {
      score_slots<Q, kSlots>(block, chunk + s * key_stride, key_stride, dim, s);
    }
    for (; s < count; ++s) {
      score_slots<Q, 1>(block, chunk + s * key_stride, key_stride, dim, s);
    }
    for (int q = 0; q < Q; ++q) {
      soften(block, q, begin, count, dim);
    }
    accumulate_values<Q>(block, values + begin * value_stride, value_stride, dim, count);
  }
}

// Where query row r of a (sequence, KV head) pair lies: token r / group, head r % group.
struct AttentionShape {
  std::int64_t dim, group, kv_heads, tokens, slots, rows, blocks;
  int query_rows;
};

template <class T>
void attention_unit(const KernelParams& params, const TensorArg* t, const AttentionShape& shape,
                    std::int64_t unit) {
  const std::int64_t sequence = unit / (shape.kv_heads * shape.blocks);
  const std::int64_t kv_head = unit / shape.blocks % shape.kv_heads;
  const std::int64_t first = unit % shape.blocks * shape.query_rows;
  const auto* positions = static_cast<const std::int32_t*>(t[3].data);
  QueryBlock block;
  const int rows = static_cast<int>(std::min<std::int64_t>(shape.query_rows, shape.rows - first));
  const auto place = [&](int q) {
    const std::int64_t row = first + std::min(q, rows - 1);
    return std::pair{sequence * shape.tokens + row / shape.group,
                     (kv_head * shape.group + row % shape.group) * shape.dim};
  };
  for (int q = 0; q < shape.query_rows; ++q) {
    const auto [token, column] = place(q);
    const std::int64_t last = positions[params.causal ? token : (sequence + 1) * shape.tokens - 1];
    block.visible[q] = std::clamp<std::int64_t>(last + 1, 0, shape.slots);
    block.best[q] = -INFINITY;
    block.total[q] = 0;
    const T* query = row_of<const T>(t[0], token) + column;
    for (std::int64_t d = 0; d < shape.dim; d += kLanes) {
      store8(block.query[q] + d, load8(query + d) * splat(params.scale));
      store8(block.result[q] + d, splat(0.0F));
    }
  }
  const T* keys = row_of<const T>(t[1], sequence * shape.slots) + kv_head * shape.dim;
  const T* values = row_of<const T>(t[2], sequence * shape.slots) + kv_head * shape.dim;
  switch (shape.query_rows) {
    case 1:
      attend<1>(block, keys, values, t[1].row_stride, t[2].row_stride, shape.dim);
      break;
    case 2:
      attend<2>(block, keys, values, t[1].row_stride, t[2].row_stride, shape.dim);
      break;
    default:
      attend<4>(block, keys, values, t[1].row_stride, t[2].row_stride, shape.dim);
      break;
  }
  for (int q = 0; q < rows; ++q) {
    const auto [token, column] = place(q);
    T* y = row_of<T>(t[4], token) + column;
    const F8 inverse = splat(1.0F / block.total[q]);
    for (std::int64_t d = 0; d < shape.dim; d += kLanes) {
      store8(y + d, load8(block.result[q] + d) * inverse);
    }
  }
}

inline void attention(const KernelParams& params, const TensorArg* t, int thread, int threads) {
  AttentionShape shape{};
  shape.dim = params.head_dim;
  shape.kv_heads = t[1].columns / shape.dim;
  shape.group = t[0].columns / t[1].columns;
  shape.tokens = t[0].rows / params.sequences;
  shape.slots = t[1].rows / params.sequences;
  shape.rows = shape.tokens * shape.group;
  shape.query_rows = shape.rows >= 4 ? 4 : (shape.rows >= 2 ? 2 : 1);
  shape.blocks = (shape.rows + shape.query_rows - 1) / shape.query_rows;
  const Share share = share_of(params.sequences * shape.kv_heads * shape.blocks, thread, threads);
  with_type(t[0].dtype, [&]<class T>(const T*) {
    for (std::int64_t unit = share.begin; unit < share.end; ++unit) {
      attention_unit<T>(params, t, shape, unit);
    }
  });
}

}  // namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA
