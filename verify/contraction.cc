#include "verify/contraction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/bf16.h"
#include "base/check.h"

namespace fusefarm::verify {
namespace {

// Vectors of the compiler: one source for AVX2 and for the baseline instruction set.
using Float8 = float __attribute__((vector_size(32), aligned(4), may_alias));
using Double4 = double __attribute__((vector_size(32), aligned(8), may_alias));
using Float4 = float __attribute__((vector_size(16), aligned(4), may_alias));
using Word4 = std::uint32_t __attribute__((vector_size(16), aligned(4), may_alias));
using Half4 = std::uint16_t __attribute__((vector_size(8), aligned(2), may_alias));

constexpr std::size_t kPanel = 4;         // weight rows handled together
constexpr std::size_t kRowsTogether = 2;  // of x
constexpr std::size_t kLanes = 8;         // k is padded to a multiple of this

// Rows of x, padded, in the forms that the loops want. Error sums need only a few digits, so they
// run in f32 over values scaled to at most 1.
struct PackedRows {
  std::size_t rows = 0, k = 0;
  bool exact = true;
  std::vector<double> value;
  std::vector<float> magnitude, tolerance, radius;
  std::vector<double> magnitude_scale, tolerance_scale, radius_scale;
};

// One panel of weight rows, widened.
struct PackedPanel {
  std::vector<double> value;
  std::vector<float> magnitude;
};

// Sums of kRowsTogether x kPanel outputs.
struct PanelSums {
  double value[kRowsTogether][kPanel];
  double magnitude[kRowsTogether][kPanel], tolerance[kRowsTogether][kPanel];
  double radius2[kRowsTogether][kPanel];
};

double scale_row(const double* from, std::size_t count, float* into) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(from[i]));
  }
  if (!(largest > 0) || !std::isfinite(largest)) {
    const float fill = largest > 0 ? 1.0F : 0.0F;
    std::fill(into, into + count, fill);
    return largest;
  }
  for (std::size_t i = 0; i < count; ++i) {
    into[i] = static_cast<float>(std::fabs(from[i]) / largest);
  }
  return largest;
}

PackedRows pack_rows(const Values& x, std::span<const std::size_t> rows, std::size_t k) {
  PackedRows packed;
  packed.rows = (rows.size() + kRowsTogether - 1) / kRowsTogether * kRowsTogether;
  packed.k = (k + kLanes - 1) / kLanes * kLanes;
  packed.exact = x.exact();
  packed.value.assign(packed.rows * packed.k, 0);
  packed.magnitude.assign(packed.rows * packed.k, 0);
  packed.magnitude_scale.assign(packed.rows, 0);
  if (!packed.exact) {
    packed.tolerance = packed.radius = packed.magnitude;
    packed.tolerance_scale = packed.radius_scale = packed.magnitude_scale;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t from = rows[i] * k;
    const std::size_t to = i * packed.k;
    std::copy_n(x.value.data() + from, k, packed.value.data() + to);
    packed.magnitude_scale[i] = scale_row(x.value.data() + from, k, packed.magnitude.data() + to);
    if (packed.exact) {
      continue;
    }
    packed.tolerance_scale[i] =
        scale_row(x.tolerance.data() + from, k, packed.tolerance.data() + to);
    packed.radius_scale[i] = scale_row(x.radius.data() + from, k, packed.radius.data() + to);
  }
  return packed;
}

inline __attribute__((always_inline)) void widen_row(const std::byte* from, graph::DType dtype,
                                                     std::size_t k, double* value,
                                                     float* magnitude) {
  std::size_t i = 0;
  if (dtype == graph::DType::kBF16) {
    for (; i + 4 <= k; i += 4) {
      const auto& half = *reinterpret_cast<const Half4*>(from + i * 2);
      const Word4 word = __builtin_convertvector(half, Word4) << 16;
      *reinterpret_cast<Double4*>(value + i) =
          __builtin_convertvector(reinterpret_cast<const Float4&>(word), Double4);
      *reinterpret_cast<Word4*>(magnitude + i) = word & 0x7fffffffU;
    }
  }
  for (; i < k; ++i) {
    float w = 0;
    if (dtype == graph::DType::kBF16) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, from + i * 2, 2);
      w = bf16_to_float(bits);
    } else {
      std::memcpy(&w, from + i * 4, 4);
    }
    value[i] = static_cast<double>(w);
    magnitude[i] = std::fabs(w);
  }
}

inline __attribute__((always_inline)) void pack_body(const WeightRows& weight, std::size_t n,
                                                     PackedPanel& panel, std::size_t padded_k) {
  const auto bytes = static_cast<std::size_t>(graph::bytes_of(weight.weight->dtype));
  for (std::size_t p = 0; p < kPanel; ++p) {
    double* value = panel.value.data() + p * padded_k;
    float* magnitude = panel.magnitude.data() + p * padded_k;
    if (n + p >= weight.n) {
      std::fill(value, value + padded_k, 0.0);
      std::fill(magnitude, magnitude + padded_k, 0.0F);
      continue;
    }
    const std::byte* from =
        weight.weight->bytes.data() + (weight.first_row + n + p) * weight.k * bytes;
    widen_row(from, weight.weight->dtype, weight.k, value, magnitude);
  }
}

inline __attribute__((always_inline)) double sum_of(const Double4& v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}

inline __attribute__((always_inline)) double sum_of(const Float8& v) {
  return static_cast<double>(((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])));
}

template <class Vector, class Scalar>
inline __attribute__((always_inline)) const Vector& load(const Scalar* from) {
  return *reinterpret_cast<const Vector*>(from);
}

inline __attribute__((always_inline)) void sum_values(const double* x, const double* w,
                                                      std::size_t k, PanelSums& sums) {
  Double4 a[kRowsTogether][kPanel] = {};
  for (std::size_t i = 0; i < k; i += 4) {
    const auto& x0 = load<Double4>(x + i);
    const auto& x1 = load<Double4>(x + k + i);
    for (std::size_t p = 0; p < kPanel; ++p) {
      const auto& wp = load<Double4>(w + p * k + i);
      a[0][p] += x0 * wp;
      a[1][p] += x1 * wp;
    }
  }
  for (std::size_t r = 0; r < kRowsTogether; ++r) {
    for (std::size_t p = 0; p < kPanel; ++p) {
      sums.value[r][p] = sum_of(a[r][p]);
    }
  }
}

inline __attribute__((always_inline)) void sum_magnitudes(const float* x, const float* w,
                                                          std::size_t k, PanelSums& sums) {
  Float8 a[kRowsTogether][kPanel] = {};
  for (std::size_t i = 0; i < k; i += kLanes) {
    const auto& x0 = load<Float8>(x + i);
    const auto& x1 = load<Float8>(x + k + i);
    for (std::size_t p = 0; p < kPanel; ++p) {
      const auto& wp = load<Float8>(w + p * k + i);
      a[0][p] += x0 * wp;
      a[1][p] += x1 * wp;
    }
  }
  for (std::size_t r = 0; r < kRowsTogether; ++r) {
    for (std::size_t p = 0; p < kPanel; ++p) {
      sums.magnitude[r][p] = sum_of(a[r][p]);
    }
  }
}

// Magnitudes and errors of one row in one pass over the weights.
inline __attribute__((always_inline)) void sum_errors(const PackedRows& x, std::size_t at,
                                                      const float* w, std::size_t r,
                                                      PanelSums& sums) {
  const float* m = x.magnitude.data() + at;
  const float* t = x.tolerance.data() + at;
  const float* s = x.radius.data() + at;
  Float8 magnitude[kPanel] = {};
  Float8 linear[kPanel] = {};
  Float8 square[kPanel] = {};
  for (std::size_t i = 0; i < x.k; i += kLanes) {
    const auto& mi = load<Float8>(m + i);
    const auto& ti = load<Float8>(t + i);
    const auto& si = load<Float8>(s + i);
    for (std::size_t p = 0; p < kPanel; ++p) {
      const auto& wp = load<Float8>(w + p * x.k + i);
      magnitude[p] += wp * mi;
      linear[p] += wp * ti;
      const Float8 ws = wp * si;
      square[p] += ws * ws;
    }
  }
  for (std::size_t p = 0; p < kPanel; ++p) {
    sums.magnitude[r][p] = sum_of(magnitude[p]);
    sums.tolerance[r][p] = sum_of(linear[p]);
    sums.radius2[r][p] = sum_of(square[p]);
  }
}

inline __attribute__((always_inline)) void panel_body(const PackedRows& x, std::size_t row,
                                                      const PackedPanel& panel, PanelSums& sums) {
  const std::size_t at = row * x.k;
  sum_values(x.value.data() + at, panel.value.data(), x.k, sums);
  if (x.exact) {
    sum_magnitudes(x.magnitude.data() + at, panel.magnitude.data(), x.k, sums);
    return;
  }
  for (std::size_t r = 0; r < kRowsTogether; ++r) {
    sum_errors(x, at + r * x.k, panel.magnitude.data(), r, sums);
  }
}

struct Kernels {
  void (*pack)(const WeightRows&, std::size_t, PackedPanel&, std::size_t);
  void (*sum)(const PackedRows&, std::size_t, const PackedPanel&, PanelSums&);
};

void pack_baseline(const WeightRows& weight, std::size_t n, PackedPanel& panel, std::size_t k) {
  pack_body(weight, n, panel, k);
}

void sum_baseline(const PackedRows& x, std::size_t row, const PackedPanel& panel, PanelSums& sums) {
  panel_body(x, row, panel, sums);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void pack_avx2(const WeightRows& weight, std::size_t n,
                                                   PackedPanel& panel, std::size_t k) {
  pack_body(weight, n, panel, k);
}

__attribute__((target("avx2,fma"))) void sum_avx2(const PackedRows& x, std::size_t row,
                                                  const PackedPanel& panel, PanelSums& sums) {
  panel_body(x, row, panel, sums);
}

Kernels best_kernels() {
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return wide ? Kernels{pack_avx2, sum_avx2} : Kernels{pack_baseline, sum_baseline};
}
#else
Kernels best_kernels() { return {pack_baseline, sum_baseline}; }
#endif

struct Job {
  const Values* x = nullptr;
  std::span<const std::size_t> x_rows, y_rows;
  WeightRows weight;
  Values* y = nullptr;
};

// Error of the sums as in error_bound.h, written to row `y_row`, columns n...
void store(const Job& job, const PackedRows& x, const PanelSums& sums, std::size_t packed_row,
           std::size_t r, std::size_t y_row, std::size_t n) {
  const double f32_term =
      std::sqrt(static_cast<double>(job.weight.k)) * graph::unit_roundoff(graph::DType::kF32);
  for (std::size_t p = 0; p < kPanel && n + p < job.weight.n; ++p) {
    const std::size_t at = y_row * job.weight.n + n + p;
    const double s = f32_term * sums.magnitude[r][p] * x.magnitude_scale[packed_row];
    double tolerance = 0;
    double radius = 0;
    if (!x.exact) {
      radius = std::sqrt(sums.radius2[r][p]) * x.radius_scale[packed_row];
      const double linear = sums.tolerance[r][p] * x.tolerance_scale[packed_row];
      tolerance = std::isfinite(linear) ? std::min(linear, kConfidence * radius) : linear;
    }
    job.y->value[at] = sums.value[r][p];
    job.y->tolerance[at] = tolerance + kConfidence * s;
    job.y->radius[at] = std::sqrt(radius * radius + s * s);
  }
}

// Weight rows [begin, end) for all rows of x, in blocks of rows that stay in the second-level
// cache.
void contract_range(const Job& job, std::size_t begin, std::size_t end) {
  constexpr std::size_t kBlockBytes = 384U << 10;
  const Kernels kernels = best_kernels();
  const std::size_t k = job.weight.k;
  const std::size_t padded = (k + kLanes - 1) / kLanes * kLanes;
  PackedPanel panel{std::vector<double>(kPanel * padded), std::vector<float>(kPanel * padded)};
  const std::size_t together =
      std::clamp<std::size_t>(kBlockBytes / (padded * 20) / 2 * 2, kRowsTogether * 8, 64);
  for (std::size_t first = 0; first < job.x_rows.size(); first += together) {
    const auto rows = job.x_rows.subspan(first, std::min(together, job.x_rows.size() - first));
    const PackedRows x = pack_rows(*job.x, rows, k);
    for (std::size_t n = begin; n < end; n += kPanel) {
      kernels.pack(job.weight, n, panel, padded);
      for (std::size_t row = 0; row < rows.size(); row += kRowsTogether) {
        PanelSums sums;
        kernels.sum(x, row, panel, sums);
        for (std::size_t r = 0; r < kRowsTogether && row + r < rows.size(); ++r) {
          store(job, x, sums, row + r, r, job.y_rows[first + row + r], n);
        }
      }
    }
  }
}

}  // namespace

void contract(const Values& x, std::span<const std::size_t> x_rows, const WeightRows& weight,
              Values& y, std::span<const std::size_t> y_rows, int threads) {
  FUSEFARM_CHECK(x_rows.size() == y_rows.size(), "contraction rows");
  const Job job{&x, x_rows, y_rows, weight, &y};
  // Below this a thread costs more than it saves.
  constexpr std::size_t kWorkPerThread = 1U << 22;
  const std::size_t work = x_rows.size() * weight.n * weight.k;
  const std::size_t wanted = std::clamp<std::size_t>(
      work / kWorkPerThread, 1, static_cast<std::size_t>(std::max(threads, 1)));
  const std::size_t share = (weight.n / wanted + kPanel) / kPanel * kPanel;
  std::vector<std::jthread> helpers;
  for (std::size_t begin = share; begin < weight.n; begin += share) {
    helpers.emplace_back([&job, begin, share, n = weight.n] {
      contract_range(job, begin, std::min(begin + share, n));
    });
  }
  contract_range(job, 0, std::min(share, weight.n));
}

}  // namespace fusefarm::verify
