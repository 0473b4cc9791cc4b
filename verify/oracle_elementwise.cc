#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "verify/oracle_ops.h"

namespace fusefarm::verify {
namespace {

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double silu(double x) { return x * sigmoid(x); }

// Largest change of silu over [x - e, x + e]. silu has one minimum and is monotone on both sides.
double silu_change(double x, double e) {
  if (!(e > 0)) {
    return 0;
  }
  if (!std::isfinite(e)) {
    return e;
  }
  constexpr double kMinimumAt = -1.2784645427610738;
  const double at = silu(x);
  double change = std::max(std::fabs(silu(x + e) - at), std::fabs(silu(x - e) - at));
  if (x - e < kMinimumAt && kMinimumAt < x + e) {
    change = std::max(change, std::fabs(silu(kMinimumAt) - at));
  }
  return change;
}

}  // namespace

Values add_values(const Values& a, const Values& b, graph::DType dtype) {
  Values y = make_values(dtype, a.shape);
  const double u = graph::unit_roundoff(graph::DType::kF32);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double sum = a.value[i] + b.value[i];
    const double rounding = u * std::fabs(sum);
    y.value[i] = sum;
    y.tolerance[i] = a.tolerance_at(i) + b.tolerance_at(i) + rounding;
    y.radius[i] = root_sum(a.radius_at(i), b.radius_at(i), rounding);
  }
  return y;
}

Values rms_norm(const Values& x, const Values& weight, double eps, graph::DType dtype) {
  Values y = make_values(dtype, x.shape);
  const std::size_t n = x.width();
  const auto count = static_cast<double>(n);
  // The sum of squares has only positive terms: S is the sum itself, and rs has half its error.
  const double rs_f32 = 0.5 * std::sqrt(count) * graph::unit_roundoff(graph::DType::kF32);
  for (std::size_t row = 0; row < x.rows(); ++row) {
    const std::size_t at = row * n;
    double squares = 0;
    double linear = 0;
    double radius2 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double v = x.value[at + i];
      squares += v * v;
      linear += std::fabs(v) * x.tolerance_at(at + i);
      radius2 += v * v * x.radius_at(at + i) * x.radius_at(at + i);
    }
    const double rs = 1 / std::sqrt(squares / count + eps);
    // d rs = -rs^3 / n * sum x dx
    const double slope = rs * rs * rs / count;
    const double rs_radius = root_sum(slope * std::sqrt(radius2), rs * rs_f32);
    const double rs_tolerance = std::min(slope * linear, kConfidence * slope * std::sqrt(radius2)) +
                                kConfidence * rs * rs_f32;
    for (std::size_t i = 0; i < n; ++i) {
      const double v = x.value[at + i];
      const double w = std::fabs(weight.value[i]);
      const double result = v * rs * weight.value[i];
      y.value[at + i] = result;
      y.tolerance[at + i] = w * (rs * x.tolerance_at(at + i) + std::fabs(v) * rs_tolerance) +
                            kElementwiseF32 * std::fabs(result);
      y.radius[at + i] =
          root_sum(w * rs * x.radius_at(at + i), w * v * rs_radius, kElementwiseF32 * result);
    }
  }
  return y;
}

Values silu_mul(const Values& gate_up, graph::DType dtype) {
  std::vector<std::int64_t> shape = gate_up.shape;
  shape.back() /= 2;
  Values y = make_values(dtype, shape);
  const std::size_t n = y.width();
  for (std::size_t row = 0; row < y.rows(); ++row) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t g = row * 2 * n + i;
      const std::size_t u = g + n;
      const double gate = gate_up.value[g];
      const double up = gate_up.value[u];
      const double activated = silu(gate);
      const double result = activated * up;
      const double change = silu_change(gate, gate_up.tolerance_at(g));
      const double spread = silu_change(gate, kConfidence * gate_up.radius_at(g)) / kConfidence;
      // exp(-gate) overflows in f32 where the sigmoid is below the smallest normal number.
      const double f32 =
          kElementwiseF32 * std::fabs(result) + 2 * kUnderflow * std::fabs(gate * up);
      const std::size_t at = row * n + i;
      y.value[at] = result;
      y.tolerance[at] = change * (std::fabs(up) + gate_up.tolerance_at(u)) +
                        std::fabs(activated) * gate_up.tolerance_at(u) + f32;
      y.radius[at] = root_sum(spread * up, activated * gate_up.radius_at(u), f32);
    }
  }
  return y;
}

Values cast(const Values& x, graph::DType dtype) {
  Values y = x;
  y.dtype = dtype;
  return y;
}

RopeRule rope_rule(const graph::Attrs& attrs, std::int64_t head_dim) {
  RopeRule rule;
  rule.theta = attrs.real("theta", rule.theta);
  rule.rotary_dim = attrs.integer("rotary_dim", head_dim);
  rule.interleaved = attrs.integer("interleaved") != 0;
  rule.llama3 = attrs.text("scaling") == "llama3";
  rule.factor = attrs.real("scaling_factor", 1);
  rule.low_freq = attrs.real("low_freq_factor", 1);
  rule.high_freq = attrs.real("high_freq_factor", 4);
  rule.original_max = static_cast<double>(attrs.integer("original_max_position"));
  return rule;
}

// Llama 3 scaling as in Hugging Face's modeling_rope_utils: long wavelengths are divided by the
// factor, short ones kept, those between interpolated.
double rope_frequency(const RopeRule& rule, std::int64_t pair) {
  const double frequency =
      std::pow(rule.theta, -2.0 * static_cast<double>(pair) / static_cast<double>(rule.rotary_dim));
  if (!rule.llama3) {
    return frequency;
  }
  constexpr double kTwoPi = 6.283185307179586;
  const double wavelength = kTwoPi / frequency;
  if (wavelength < rule.original_max / rule.high_freq) {
    return frequency;
  }
  if (wavelength > rule.original_max / rule.low_freq) {
    return frequency / rule.factor;
  }
  const double smooth =
      (rule.original_max / wavelength - rule.low_freq) / (rule.high_freq - rule.low_freq);
  return (1 - smooth) * frequency / rule.factor + smooth * frequency;
}

Values rope(const Values& x, const Integers& positions, const RopeRule& rule, graph::DType dtype) {
  Values y = cast(x, dtype);
  allocate_errors(y);
  const std::size_t width = x.width();
  const auto heads = static_cast<std::size_t>(x.shape[1]);
  const auto half = static_cast<std::size_t>(rule.rotary_dim / 2);
  for (std::size_t pair = 0; pair < half; ++pair) {
    const double frequency = rope_frequency(rule, static_cast<std::int64_t>(pair));
    const std::size_t low = rule.interleaved ? 2 * pair : pair;
    const std::size_t high = rule.interleaved ? low + 1 : pair + half;
    for (std::size_t row = 0; row < x.rows(); ++row) {
      const double angle = frequency * positions.value[row / heads];
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      const std::size_t a = row * width + low;
      const std::size_t b = row * width + high;
      const double xa = x.value[a];
      const double xb = x.value[b];
      const double ta = x.tolerance_at(a);
      const double tb = x.tolerance_at(b);
      const double ra = x.radius_at(a);
      const double rb = x.radius_at(b);
      // An f32 angle is off by a few roundings of itself, which turns the pair.
      const double turn = kElementwiseF32 * std::fabs(angle) + kElementwiseF32;
      const double f32 = turn * (std::fabs(xa) + std::fabs(xb));
      y.value[a] = xa * c - xb * s;
      y.value[b] = xb * c + xa * s;
      y.tolerance[a] = std::fabs(c) * ta + std::fabs(s) * tb + f32;
      y.tolerance[b] = std::fabs(c) * tb + std::fabs(s) * ta + f32;
      y.radius[a] = root_sum(c * ra, s * rb, f32);
      y.radius[b] = root_sum(c * rb, s * ra, f32);
    }
  }
  return y;
}

OracleChoice argmax(const Values& scores, Integers& best) {
  OracleChoice choice;
  const std::size_t n = scores.width();
  best.shape.assign(scores.shape.begin(), scores.shape.end() - 1);
  for (std::size_t row = 0; row < scores.rows(); ++row) {
    const double* v = scores.value.data() + row * n;
    std::size_t top = 0;
    double floor = -INFINITY;  // what the winner has for sure
    for (std::size_t i = 0; i < n; ++i) {
      if (v[i] > v[top]) {
        top = i;
      }
      floor = std::max(floor, v[i] - scores.tolerance_at(row * n + i));
    }
    std::vector<std::int32_t> acceptable;
    double second = -INFINITY;
    double worst = scores.tolerance_at(row * n + top);
    for (std::size_t i = 0; i < n; ++i) {
      if (i != top) {
        second = std::max(second, v[i]);
      }
      const double reach = v[i] + scores.tolerance_at(row * n + i);
      // Exact scores: ties go to the lower index, which `top` already is.
      if (i == top || (!scores.exact() && reach >= floor)) {
        acceptable.push_back(static_cast<std::int32_t>(i));
        worst = std::max(worst, scores.tolerance_at(row * n + i));
      }
    }
    best.value.push_back(static_cast<std::int32_t>(top));
    best.uncertain.push_back(acceptable.size() > 1);
    choice.acceptable.push_back(std::move(acceptable));
    choice.gap.push_back(n > 1 ? v[top] - second : INFINITY);
    choice.tolerance.push_back(worst);
  }
  return choice;
}

}  // namespace fusefarm::verify
