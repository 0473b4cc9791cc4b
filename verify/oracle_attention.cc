#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "verify/oracle_ops.h"

namespace fusefarm::verify {
namespace {

// One sequence's rows of one KV head, dense.
struct HeadRows {
  std::vector<double> value, tolerance, radius;
  bool exact = true;
};

HeadRows load_head(const StateValues& state, std::int64_t first, std::int64_t last,
                   std::size_t column, std::size_t d) {
  HeadRows rows;
  const auto count = static_cast<std::size_t>(last - first) * d;
  rows.value.reserve(count);
  rows.tolerance.reserve(count);
  rows.radius.reserve(count);
  StateRow row;
  for (std::int64_t slot = first; slot < last; ++slot) {
    read_state(state, slot, column, d, row);
    rows.value.insert(rows.value.end(), row.value.begin(), row.value.end());
    rows.tolerance.insert(rows.tolerance.end(), row.tolerance.begin(), row.tolerance.end());
    rows.radius.insert(rows.radius.end(), row.radius.begin(), row.radius.end());
  }
  return rows;
}

struct Score {
  double value = 0, tolerance = 0, radius = 0;
};

Score score_of(const Values& q, std::size_t q_at, const HeadRows& keys, std::size_t k_at,
               std::size_t d, double scale) {
  double dot = 0;
  double magnitude = 0;
  double linear = 0;
  double square = 0;
  for (std::size_t i = 0; i < d; ++i) {
    const double a = q.value[q_at + i];
    const double b = keys.value[k_at + i];
    dot += a * b;
    magnitude += std::fabs(a * b);
    linear += std::fabs(b) * q.tolerance_at(q_at + i) + std::fabs(a) * keys.tolerance[k_at + i];
    const double ea = b * q.radius_at(q_at + i);
    const double eb = a * keys.radius[k_at + i];
    square += ea * ea + eb * eb;
  }
  const double f32 =
      std::sqrt(static_cast<double>(d)) * graph::unit_roundoff(graph::DType::kF32) * magnitude;
  const double radius = std::sqrt(square);
  return {dot * scale, scale * (std::min(linear, kConfidence * radius) + kConfidence * f32),
          scale * std::hypot(radius, f32)};
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

void mix(const Mixer& mixer, const HeadRows& values, std::size_t d, std::size_t column, Values& y,
         std::size_t at) {
  const std::size_t n = mixer.p.size();
  double out = 0;
  for (std::size_t j = 0; j < n; ++j) {
    out += mixer.p[j] * values.value[j * d + column];
  }
  double from_scores = 0;
  double from_values = 0;
  double square = 0;
  double farthest = 0;
  double magnitude = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double v = values.value[j * d + column];
    const double distance = std::fabs(v - out);
    farthest = std::max(farthest, distance);
    magnitude += mixer.p[j] * std::fabs(v);
    from_scores += mixer.shift[j] * distance;
    from_values += mixer.p[j] * values.tolerance[j * d + column];
    const double a = mixer.spread[j] * distance;
    const double b = mixer.p[j] * values.radius[j * d + column];
    square += a * a + b * b;
  }
  const double f32 =
      std::sqrt(static_cast<double>(n)) * graph::unit_roundoff(graph::DType::kF32) * magnitude;
  const double radius = std::sqrt(square);
  // Weights stay a convex combination whatever the scores do.
  const double linear = std::min(from_scores, farthest) + from_values;
  y.value[at] = out;
  y.tolerance[at] = std::min(linear, kConfidence * radius) + kConfidence * f32;
  y.radius[at] = std::hypot(std::min(radius, farthest), f32);
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
  const auto job = [&](std::size_t index) {
    const std::int64_t sequence = static_cast<std::int64_t>(index) / shape.kv_heads;
    const std::int64_t kv_head = static_cast<std::int64_t>(index) % shape.kv_heads;
    VisibleRows all = visible_rows(positions, shape, sequence * per_sequence);
    for (std::int64_t i = 1; i < per_sequence; ++i) {
      all.last =
          std::max(all.last, visible_rows(positions, shape, sequence * per_sequence + i).last);
    }
    const std::size_t column = static_cast<std::size_t>(kv_head) * d;
    const HeadRows k = load_head(keys, all.first, all.last, column, d);
    const HeadRows v = load_head(values, all.first, all.last, column, d);
    for (std::int64_t i = 0; i < per_sequence * group; ++i) {
      const std::int64_t token = sequence * per_sequence + i / group;
      const std::int64_t head = kv_head * group + i % group;
      const VisibleRows visible = visible_rows(positions, shape, token);
      const auto at = static_cast<std::size_t>(token * shape.heads + head) * d;
      std::vector<Score> scores(static_cast<std::size_t>(visible.last - visible.first));
      for (std::size_t j = 0; j < scores.size(); ++j) {
        scores[j] = score_of(q, at, k, j * d, d, shape.scale);
      }
      if (scores.empty()) {
        continue;
      }
      const Mixer mixer(scores);
      for (std::size_t c = 0; c < d; ++c) {
        mix(mixer, v, d, c, y, at + c);
      }
    }
  };
  run_parallel(static_cast<std::size_t>(shape.sequences * shape.kv_heads), threads, job);
  return y;
}

}  // namespace fusefarm::verify
