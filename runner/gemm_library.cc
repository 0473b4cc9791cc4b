#include "runner/gemm_library.h"

#include <algorithm>
#include <cstring>

#include "base/bf16.h"

namespace fusefarm::runner {
namespace {

using codegen::TensorArg;
using graph::DType;

float load(const TensorArg& tensor, std::int64_t index) {
  if (tensor.dtype == DType::kBF16) {
    return bf16_to_float(static_cast<const std::uint16_t*>(tensor.data)[index]);
  }
  return static_cast<const float*>(tensor.data)[index];
}

bool is_float(const TensorArg& tensor) { return tensor.dtype != DType::kI32; }

}  // namespace

Result<GemmShape> gemm_shape(std::span<const TensorArg> tensors) {
  if (tensors.size() != 3 && tensors.size() != 4) {
    return Error{ErrorCode::kInvalidArgument, "a linear step has 3 or 4 tensors"};
  }
  const TensorArg& x = tensors[0];
  const TensorArg& weight = tensors[1];
  const TensorArg& y = tensors.back();
  const bool bias = tensors.size() == 4;
  const bool agrees = x.columns == weight.columns && y.rows == x.rows && y.columns == weight.rows &&
                      weight.row_stride == weight.columns && weight.layout.panel == 0 &&
                      std::ranges::all_of(tensors, is_float) &&
                      (!bias || tensors[2].rows * tensors[2].columns == weight.rows);
  if (!agrees) {
    return Error{ErrorCode::kInvalidArgument,
                 "a linear step by a library needs a row-major weight and agreeing shapes"};
  }
  return GemmShape{x.rows, weight.rows, weight.columns, bias};
}

ColumnRange column_share(std::int64_t n, int thread, int threads) {
  constexpr std::int64_t kUnit = 16;
  const std::int64_t units = (n + kUnit - 1) / kUnit;
  return {std::min(n, units * thread / threads * kUnit),
          std::min(n, units * (thread + 1) / threads * kUnit)};
}

void widen(const TensorArg& from, float* to) {
  for (std::int64_t r = 0; r < from.rows; ++r) {
    float* out = to + (r * from.columns);
    if (from.dtype == DType::kF32) {
      const float* row = static_cast<const float*>(from.data) + (r * from.row_stride);
      std::memcpy(out, row, static_cast<std::size_t>(from.columns) * sizeof(float));
      continue;
    }
    const std::uint16_t* row = static_cast<const std::uint16_t*>(from.data) + (r * from.row_stride);
    for (std::int64_t c = 0; c < from.columns; ++c) {
      out[c] = bf16_to_float(row[c]);
    }
  }
}

void store_columns(const float* from, ColumnRange range, const TensorArg* bias,
                   const TensorArg& y) {
  const std::int64_t width = range.end - range.begin;
  for (std::int64_t r = 0; r < y.rows; ++r) {
    const float* row = from + (r * width);
    const std::int64_t at = (r * y.row_stride) + range.begin;
    for (std::int64_t c = 0; c < width; ++c) {
      const float value = bias == nullptr ? row[c] : row[c] + load(*bias, range.begin + c);
      if (y.dtype == DType::kBF16) {
        static_cast<std::uint16_t*>(y.data)[at + c] = float_to_bf16(value);
      } else {
        static_cast<float*>(y.data)[at + c] = value;
      }
    }
  }
}

Result<std::unique_ptr<GemmLibrary>> prepare_gemm(const std::string& library,
                                                  std::span<const TensorArg> tensors,
                                                  const std::vector<const void*>& weights,
                                                  int threads) {
  if (library == "openblas") {
    return prepare_openblas(tensors, weights, threads);
  }
  if (library == "onednn") {
    return prepare_onednn(tensors, weights, threads);
  }
  return Error{ErrorCode::kUnsupported, "there is no GEMM library '" + library + "'"};
}

}  // namespace fusefarm::runner
