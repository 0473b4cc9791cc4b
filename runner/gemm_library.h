// kLinear by a BLAS or deep-learning library: y[R,N] = x[R,K] W[N,K]^T (+ bias). The columns of y
// are split over the executor's threads, each of which makes its own single-threaded library calls,
// so that the team's barriers stay the only synchronisation of a step.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/kernels/builtin.h"

namespace fusefarm::runner {

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  // The share of `thread`; `copy` says which copy of the weight (prepare's list) this launch uses.
  // Tensors as at prepare: x, weight, (bias), y.
  virtual void run(std::span<const codegen::TensorArg> tensors, std::uint32_t copy, int thread) = 0;
};

// `weights`: the weight's copies, all of the shape and dtype of tensors[1]. Libraries work in f32
// here: bf16 activations are widened into the library's own scratch and rounded once on the way
// out. Errors: kUnsupported when the library can't do it.
Result<std::unique_ptr<GemmLibrary>> prepare_gemm(const std::string& library,
                                                  std::span<const codegen::TensorArg> tensors,
                                                  const std::vector<const void*>& weights,
                                                  int threads);

Result<std::unique_ptr<GemmLibrary>> prepare_openblas(std::span<const codegen::TensorArg> tensors,
                                                      const std::vector<const void*>& weights,
                                                      int threads);
Result<std::unique_ptr<GemmLibrary>> prepare_onednn(std::span<const codegen::TensorArg> tensors,
                                                    const std::vector<const void*>& weights,
                                                    int threads);

// The name of the kernels that OpenBLAS picked for this CPU.
std::string openblas_core();

// What both libraries share: operands as f32.
struct GemmShape {
  std::int64_t rows = 0, n = 0, k = 0;
  bool bias = false;
};

Result<GemmShape> gemm_shape(std::span<const codegen::TensorArg> tensors);

// Columns [begin, end) of y that belong to a thread, in multiples of 16.
struct ColumnRange {
  std::int64_t begin = 0, end = 0;
};

ColumnRange column_share(std::int64_t n, int thread, int threads);

// Dense rows x columns f32 of a tensor that may be bf16 and strided.
void widen(const codegen::TensorArg& from, float* to);
// Adds the bias (may be null) and rounds columns [range) of y; `from` is dense, rows x range.
void store_columns(const float* from, ColumnRange range, const codegen::TensorArg* bias,
                   const codegen::TensorArg& y);

}  // namespace fusefarm::runner
