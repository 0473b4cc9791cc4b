#include "verify/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace fusefarm::verify {
namespace {

constexpr double kLog2 = 0.693147180559945309;

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

// Continued fraction of the incomplete beta function (Lentz's method; Numerical Recipes 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) {
    d = kTiny;
  }
  d = 1 / d;
  double h = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    if (std::fabs(d) < kTiny) {
      d = kTiny;
    }
    if (std::fabs(c) < kTiny) {
      c = kTiny;
    }
    d = 1 / d;
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    if (std::fabs(d) < kTiny) {
      d = kTiny;
    }
    if (std::fabs(c) < kTiny) {
      c = kTiny;
    }
    d = 1 / d;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) {
      break;
    }
  }
  return h;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) {
    return front * beta_fraction(a, b, x) / a;
  }
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double quad_log_ratio(const Quad& quad) {
  double sum[2] = {0, 0};
  int count[2] = {0, 0};
  for (const Slot& slot : quad.slots) {
    const auto arm = static_cast<std::size_t>(slot.arm);
    const double launch = static_cast<double>(slot.nanoseconds) / std::max(slot.launches, 1);
    sum[arm] += std::log(std::max(launch, 1e-3));
    ++count[arm];
  }
  if (count[0] == 0 || count[1] == 0) {
    return 0;
  }
  return sum[0] / count[0] - sum[1] / count[1];
}

std::vector<double> log_ratios(const PairedMeasurement& measurement) {
  std::vector<double> ratios;
  for (const Block& block : measurement.blocks) {
    for (const Quad& quad : block.quads) {
      if (!quad.discarded) {
        ratios.push_back(quad_log_ratio(quad));
      }
    }
  }
  return ratios;
}

std::vector<double> block_medians(const PairedMeasurement& measurement) {
  std::vector<double> medians;
  for (const Block& block : measurement.blocks) {
    std::vector<double> ratios;
    for (const Quad& quad : block.quads) {
      if (!quad.discarded) {
        ratios.push_back(quad_log_ratio(quad));
      }
    }
    if (!ratios.empty()) {
      medians.push_back(median(std::move(ratios)));
    }
  }
  return medians;
}

double median(std::vector<double> values) {
  FUSEFARM_CHECK(!values.empty(), "median of nothing");
  const std::size_t middle = values.size() / 2;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) {
    return *at;
  }
  return 0.5 * (*at + *std::max_element(values.begin(), at));
}

double hodges_lehmann(std::span<const double> values) {
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) {
      means.push_back(0.5 * (values[i] + values[j]));
    }
  }
  return median(std::move(means));
}

double log_sign_e_value(int n, int k) {
  const double a = k + 1;
  const double b = n - k + 1;
  // integral from 1/2 to 1 = B(a, b) * I_{1/2}(b, a)
  const double tail = incomplete_beta(b, a, 0.5);
  return (n + 1) * kLog2 + log_beta(a, b) + std::log(tail);
}

double log_sign_e_value_two_sided(int n, int k) { return n * kLog2 + log_beta(k + 1, n - k + 1); }

Interval median_interval(std::span<const double> values, double coverage) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Interval interval{0, -kInfinity, kInfinity};
  if (values.empty()) {
    return interval;
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<int>(sorted.size());
  const double limit = -std::log(1 - coverage);
  // The largest number of values on one side that still speaks against the median being beyond.
  int rejected = -1;
  while (rejected + 1 <= n / 2 && log_sign_e_value_two_sided(n, rejected + 1) >= limit) {
    ++rejected;
  }
  if (rejected >= 0) {
    interval.lo = sorted[static_cast<std::size_t>(rejected)];
    interval.hi = sorted[static_cast<std::size_t>(n - 1 - rejected)];
  }
  interval.estimate = std::clamp(hodges_lehmann(sorted), interval.lo, interval.hi);
  return interval;
}

Interval combine(std::span<const WeightedInterval> parts) {
  double total = 0;
  double rest = 0;
  for (const WeightedInterval& part : parts) {
    total += part.weight;
    rest += part.weight * std::exp(-part.log_speedup.estimate);
  }
  if (!(total > 0) || !(rest > 0)) {
    return {};
  }
  Interval whole;
  whole.estimate = -std::log(rest / total);
  double below = 0;
  double above = 0;
  for (const WeightedInterval& part : parts) {
    // Derivative of the whole by this part's log speed-up: its share of the time after.
    const double share = part.weight * std::exp(-part.log_speedup.estimate) / rest;
    below += std::pow(share * (part.log_speedup.estimate - part.log_speedup.lo), 2);
    above += std::pow(share * (part.log_speedup.hi - part.log_speedup.estimate), 2);
  }
  whole.lo = whole.estimate - std::sqrt(below);
  whole.hi = whole.estimate + std::sqrt(above);
  return whole;
}

}  // namespace fusefarm::verify
