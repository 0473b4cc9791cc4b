// y = x W^T in fp64 with errors: where nearly all of the oracle's time goes.
#pragma once

#include <cstdint>
#include <span>

#include "verify/values.h"

namespace fusefarm::verify {

// Rows `first_row .. first_row + n` of a weight matrix [*, k].
struct WeightRows {
  const TensorView* weight = nullptr;
  std::size_t first_row = 0, n = 0, k = 0;
};

// Writes y[r, :n] for the listed rows r of x (width k) into row r of `y` from column 0; y has width
// n. Errors as in error_bound.h, without the rounding of y itself. Uses up to `threads` threads.
void contract(const Values& x, std::span<const std::size_t> x_rows, const WeightRows& weight,
              Values& y, std::span<const std::size_t> y_rows, int threads);

}  // namespace fusefarm::verify
