#include "verify/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/bf16.h"
#include "base/check.h"

namespace fusefarm::verify {

double largest_finite(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::kF32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case graph::DType::kBF16:
      return static_cast<double>(bf16_to_float(0x7f7f));
    case graph::DType::kI32:
      return 0x7fffffff;
  }
  return 0;
}

double round_to(double value, graph::DType dtype) {
  if (dtype == graph::DType::kF32) {
    return static_cast<double>(static_cast<float>(value));
  }
  if (dtype == graph::DType::kI32 || !std::isfinite(value)) {
    return value;
  }
  // Straight from fp64, for two roundings (by way of f32) may differ from one. 8 significant bits.
  int exponent = 0;
  std::frexp(value, &exponent);
  const int lowest = std::max(exponent - 8, -133);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -lowest)), lowest);
  if (std::fabs(rounded) > largest_finite(dtype)) {
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return rounded;
}

double root_sum(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }

std::size_t count_of(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t dim : shape) {
    count *= static_cast<std::size_t>(dim);
  }
  return count;
}

Values make_values(graph::DType dtype, std::vector<std::int64_t> shape) {
  Values values;
  values.dtype = dtype;
  values.shape = std::move(shape);
  const std::size_t count = count_of(values.shape);
  values.value.assign(count, 0);
  values.tolerance.assign(count, 0);
  values.radius.assign(count, 0);
  return values;
}

void load_elements(const TensorView& view, std::size_t first, std::size_t count, double* into) {
  const auto width = static_cast<std::size_t>(graph::bytes_of(view.dtype));
  FUSEFARM_CHECK((first + count) * width <= view.bytes.size(), "element outside of its tensor");
  const std::byte* from = view.bytes.data() + first * width;
  if (view.dtype == graph::DType::kBF16) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, from + i * 2, 2);
      into[i] = static_cast<double>(bf16_to_float(bits));
    }
  } else if (view.dtype == graph::DType::kF32) {
    for (std::size_t i = 0; i < count; ++i) {
      float value = 0;
      std::memcpy(&value, from + i * 4, 4);
      into[i] = static_cast<double>(value);
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::int32_t value = 0;
      std::memcpy(&value, from + i * 4, 4);
      into[i] = value;
    }
  }
}

double element_at(const TensorView& view, std::size_t index) {
  double value = 0;
  load_elements(view, index, 1, &value);
  return value;
}

std::int32_t integer_at(const TensorView& view, std::size_t index) {
  FUSEFARM_CHECK((index + 1) * 4 <= view.bytes.size(), "integer outside of its tensor");
  std::int32_t value = 0;
  std::memcpy(&value, view.bytes.data() + index * 4, 4);
  return value;
}

Values load_values(const TensorView& view) {
  Values values;
  values.dtype = view.dtype;
  values.shape = view.shape;
  values.value.resize(count_of(view.shape));
  load_elements(view, 0, values.value.size(), values.value.data());
  return values;
}

void allocate_errors(Values& values) {
  if (!values.exact()) {
    return;
  }
  values.tolerance.assign(values.size(), 0);
  values.radius.assign(values.size(), 0);
}

void add_rounding(Values& values) {
  allocate_errors(values);
  const double u = graph::unit_roundoff(values.dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rounding = u * std::fabs(values.value[i]) + kUnderflow;
    values.tolerance[i] = values.tolerance[i] * (1 + u) + rounding;
    values.radius[i] = root_sum(values.radius[i], rounding);
  }
}

void read_state(const StateValues& state, std::int64_t row, std::size_t first, std::size_t count,
                StateRow& into) {
  into.value.resize(count);
  into.tolerance.assign(count, 0);
  into.radius.assign(count, 0);
  const std::size_t width =
      count_of(state.base.shape) / static_cast<std::size_t>(state.base.shape[0]);
  const auto found = state.row_of.find(row);
  if (found == state.row_of.end()) {
    load_elements(state.base, static_cast<std::size_t>(row) * width + first, count,
                  into.value.data());
    return;
  }
  const std::size_t begin = found->second * width + first;
  for (std::size_t i = 0; i < count; ++i) {
    into.value[i] = state.written.value[begin + i];
    into.tolerance[i] = state.written.tolerance_at(begin + i);
    into.radius[i] = state.written.radius_at(begin + i);
  }
}

}  // namespace fusefarm::verify
