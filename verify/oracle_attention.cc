#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "verify/oracle_ops.h"

namespace fusefarm::verify {
namespace {

// One sequence's rows of one KV head, dense.
struct HeadRows {
  std::size_t d = 0;
  std::vector<double> value, tolerance, radius;
  std::vector<bool> exact;  // by row: history is, what the step wrote may not be

  HeadRows(const StateValues& state, std::int64_t first, std::int64_t last, std::size_t column,
           std::size_t width)
      : d(width) {
    const auto count = static_cast<std::size_t>(last - first);
    value.resize(count * d);
    tolerance.resize(count * d);
    radius.resize(count * d);
    exact.resize(count);
    StateRow row;
    for (std::size_t j = 0; j < count; ++j) {
      const std::int64_t slot = first + static_cast<std::int64_t>(j);
      read_state(state, slot, column, d, row);
      const auto at = static_cast<std::ptrdiff_t>(j * d);
      std::copy(row.value.begin(), row.value.end(), value.begin() + at);
      std::copy(row.tolerance.begin(), row.tolerance.end(), tolerance.begin() + at);
      std::copy(row.radius.begin(), row.radius.end(), radius.begin() + at);
      exact[j] = !state.row_of.contains(slot);
    }
  }
};

struct Score {
  double value = 0, tolerance = 0, radius = 0;
};

// q of one head against one cached row.
Score score_of(const double* q, const double* q_tolerance, const double* q_radius,
               const HeadRows& keys, std::size_t row, double scale) {
  const double* k = keys.value.data() + row * keys.d;
  double dot = 0;
  double magnitude = 0;
  double linear = 0;
  double square = 0;
  for (std::size_t i = 0; i < keys.d; ++i) {
    const double product = q[i] * k[i];
    dot += product;
    magnitude += std::fabs(product);
    linear += std::fabs(k[i]) * q_tolerance[i];
    square += k[i] * k[i] * q_radius[i] * q_radius[i];
  }
  if (!keys.exact[row]) {
    const double* tolerance = keys.tolerance.data() + row * keys.d;
    const double* radius = keys.radius.data() + row * keys.d;
    for (std::size_t i = 0; i < keys.d; ++i) {
      linear += std::fabs(q[i]) * tolerance[i];
      square += q[i] * q[i] * radius[i] * radius[i];
    }
  }
  const double f32 =
      std::sqrt(static_cast<double>(keys.d)) * graph::unit_roundoff(graph::DType::kF32) * magnitude;
  const double radius = std::sqrt(square);
  return {dot * scale, scale * (std::min(linear, kConfidence * radius) + kConfidence * f32),
          scale * root_sum(radius, f32)};
}

// out = sum p v with p = softmax(scores). A change d of the scores moves it by
//   sum p_j expm1(d_j) (v_j - out) / sum p_k exp(d_k),
// which holds for large d too, where a derivative would not.
struct Mixer {
  std::vector<double> p, shift, spread;  // p; p expm1(tolerance) / z; the same for the radius

  explicit Mixer(const std::vector<Score>& scores) {
    const std::size_t n = scores.size();
    double top = -INFINITY;
    for (const Score& score : scores) {
      top = std::max(top, score.value);
    }
    double sum = 0;
    p.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
      sum += p[j] = std::exp(scores[j].value - top);
    }
    double z = 0;
    double z_spread = 0;
    double widest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      p[j] /= sum;
      widest = std::max({widest, scores[j].tolerance, kConfidence * scores[j].radius});
      z += p[j] * std::exp(-scores[j].tolerance);
      z_spread += p[j] * std::exp(-kConfidence * scores[j].radius);
    }
    // Scores that are this uncertain leave any weights possible; exp() would overflow.
    constexpr double kScoreMax = 50;
    constexpr double kAnything = 1e9;
    shift.assign(n, kAnything);
    spread.assign(n, kAnything);
    if (!(widest < kScoreMax)) {
      return;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double f32 = p[j] * kElementwiseF32;
      shift[j] = p[j] * std::expm1(scores[j].tolerance) / z + f32;
      spread[j] = p[j] * std::expm1(kConfidence * scores[j].radius) / z_spread / kConfidence + f32;
    }
  }
};

// Sums over the rows for all columns of a head.
struct Mixed {
  std::vector<double> out, magnitude, from_scores, from_values, square, farthest;

  explicit Mixed(std::size_t d)
      : out(d), magnitude(d), from_scores(d), from_values(d), square(d), farthest(d) {}
};

void mix(const Mixer& mixer, const HeadRows& values, Values& y, std::size_t at) {
  const std::size_t n = mixer.p.size();
  const std::size_t d = values.d;
  Mixed sums(d);
  for (std::size_t j = 0; j < n; ++j) {
    const double* v = values.value.data() + j * d;
    for (std::size_t c = 0; c < d; ++c) {
      sums.out[c] += mixer.p[j] * v[c];
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const double* v = values.value.data() + j * d;
    for (std::size_t c = 0; c < d; ++c) {
      const double distance = std::fabs(v[c] - sums.out[c]);
      sums.farthest[c] = std::max(sums.farthest[c], distance);
      sums.magnitude[c] += mixer.p[j] * std::fabs(v[c]);
      sums.from_scores[c] += mixer.shift[j] * distance;
      sums.square[c] += mixer.spread[j] * mixer.spread[j] * distance * distance;
    }
    if (values.exact[j]) {
      continue;
    }
    for (std::size_t c = 0; c < d; ++c) {
      sums.from_values[c] += mixer.p[j] * values.tolerance[j * d + c];
      const double b = mixer.p[j] * values.radius[j * d + c];
      sums.square[c] += b * b;
    }
  }
  for (std::size_t c = 0; c < d; ++c) {
    const double f32 = std::sqrt(static_cast<double>(n)) *
                       graph::unit_roundoff(graph::DType::kF32) * sums.magnitude[c];
    const double radius = std::sqrt(sums.square[c]);
    // Weights stay a convex combination whatever the scores do.
    const double linear = std::min(sums.from_scores[c], sums.farthest[c]) + sums.from_values[c];
    y.value[at + c] = sums.out[c];
    y.tolerance[at + c] = std::min(linear, kConfidence * radius) + kConfidence * f32;
    y.radius[at + c] = root_sum(std::min(radius, sums.farthest[c]), f32);
  }
}

}  // namespace

void run_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      job(i);
    }
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i) {
    helpers.emplace_back(work);
  }
  work();
}

VisibleRows visible_rows(const Integers& positions, const AttentionShape& shape,
                         std::int64_t token) {
  const std::int64_t per_sequence = shape.tokens / shape.sequences;
  const std::int64_t context = shape.slots / shape.sequences;
  const std::int64_t sequence = token / per_sequence;
  const std::int64_t last_token = (sequence + 1) * per_sequence - 1;
  const std::int64_t until =
      positions.value[static_cast<std::size_t>(shape.causal ? token : last_token)];
  const std::int64_t first = sequence * context;
  return {first, first + std::clamp<std::int64_t>(until + 1, 0, context)};
}

Values attention(const Values& q, const StateValues& keys, const StateValues& values,
                 const Integers& positions, const AttentionShape& shape, graph::DType dtype,
                 int threads) {
  Values y = make_values(dtype, {shape.tokens, shape.heads * shape.head_dim});
  const auto d = static_cast<std::size_t>(shape.head_dim);
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t per_sequence = shape.tokens / shape.sequences;
  const std::vector<double> zeros(d, 0);
  const auto job = [&](std::size_t index) {
    const std::int64_t sequence = static_cast<std::int64_t>(index) / shape.kv_heads;
    const std::int64_t kv_head = static_cast<std::int64_t>(index) % shape.kv_heads;
    VisibleRows all = visible_rows(positions, shape, sequence * per_sequence);
    for (std::int64_t i = 1; i < per_sequence; ++i) {
      all.last =
          std::max(all.last, visible_rows(positions, shape, sequence * per_sequence + i).last);
    }
    const std::size_t column = static_cast<std::size_t>(kv_head) * d;
    const HeadRows k(keys, all.first, all.last, column, d);
    const HeadRows v(values, all.first, all.last, column, d);
    for (std::int64_t i = 0; i < per_sequence * group; ++i) {
      const std::int64_t token = sequence * per_sequence + i / group;
      const std::int64_t head = kv_head * group + i % group;
      const VisibleRows visible = visible_rows(positions, shape, token);
      const auto at = static_cast<std::size_t>(token * shape.heads + head) * d;
      const double* q_tolerance = q.exact() ? zeros.data() : q.tolerance.data() + at;
      const double* q_radius = q.exact() ? zeros.data() : q.radius.data() + at;
      std::vector<Score> scores(static_cast<std::size_t>(visible.last - visible.first));
      for (std::size_t j = 0; j < scores.size(); ++j) {
        scores[j] = score_of(q.value.data() + at, q_tolerance, q_radius, k, j, shape.scale);
      }
      if (!scores.empty()) {
        mix(Mixer(scores), v, y, at);
      }
    }
  };
  run_parallel(static_cast<std::size_t>(shape.sequences * shape.kv_heads), threads, job);
  return y;
}

}  // namespace fusefarm::verify
