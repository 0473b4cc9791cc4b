// Parts of the oracle: tensors in fp64 with their errors.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "verify/error_bound.h"
#include "verify/oracle.h"

namespace fusefarm::verify {

// A float tensor during evaluation. tolerance and radius are empty while the tensor is exact.
struct Values {
  graph::DType dtype = graph::DType::kBF16;
  std::vector<std::int64_t> shape;
  std::vector<double> value, tolerance, radius;

  bool exact() const { return tolerance.empty(); }

  double tolerance_at(std::size_t i) const { return exact() ? 0.0 : tolerance[i]; }

  double radius_at(std::size_t i) const { return exact() ? 0.0 : radius[i]; }

  std::size_t size() const { return value.size(); }

  std::size_t width() const { return static_cast<std::size_t>(shape.back()); }

  std::size_t rows() const { return value.empty() ? 0 : value.size() / width(); }
};

// Root of the sum of squares: std::hypot without its care for extreme magnitudes, which never occur
// (elements are bf16 or f32, so squares fit fp64).
double root_sum(double a, double b, double c = 0);

// Zeroes of a shape, with errors.
Values make_values(graph::DType dtype, std::vector<std::int64_t> shape);

std::size_t count_of(const std::vector<std::int64_t>& shape);

// One element of raw bytes; `index` in elements.
double element_at(const TensorView& view, std::size_t index);
std::int32_t integer_at(const TensorView& view, std::size_t index);
// `count` elements from `first` as doubles.
void load_elements(const TensorView& view, std::size_t first, std::size_t count, double* into);
Values load_values(const TensorView& view);

// Gives an exact tensor errors of zero.
void allocate_errors(Values& values);

// Declares the tensor's own dtype as a rounding point.
void add_rounding(Values& values);

// A KV cache: the bytes it had, and the rows a step has replaced.
struct StateValues {
  TensorView base;
  std::map<std::int64_t, std::size_t> row_of;  // cache row -> row of written
  Values written;
};

// One cache row x head: value and errors of head_dim elements, from the written row or the base.
struct StateRow {
  std::vector<double> value, tolerance, radius;
};

void read_state(const StateValues& state, std::int64_t row, std::size_t first, std::size_t count,
                StateRow& into);

}  // namespace fusefarm::verify
