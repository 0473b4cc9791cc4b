// The baseline: one kernel an op, by the farm itself. Vectorised for AVX2 + FMA, chosen at run
// time; the same code without them elsewhere. f32 accumulation, one rounding on store.
//
// A step is prepared once and run by every thread of the executor at the same time; each thread
// does its share and returns. The caller puts a barrier after each step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "graph/attrs.h"
#include "graph/dtype.h"
#include "graph/op.h"
#include "records/launch_plan.h"

namespace fusefarm::codegen {

// A dense matrix with a row stride, both counted in elements. A tensor of rank n is seen as
// shape[0] x (product of the rest); rank 1 as n x 1.
struct TensorArg {
  void* data = nullptr;
  graph::DType dtype = graph::DType::kF32;
  std::int64_t rows = 0, columns = 0, row_stride = 0;
  PreparedLayout layout;  // of a kLinear's prepared weight; ignored elsewhere
};

struct KernelState;  // op parameters, resolved from the attributes

// Immutable after prepare(); run() may be called from several threads at once.
class BuiltinKernel {
 public:
  // `tensors` in the op's input then output order; only their shapes, dtypes and layouts are looked
  // at. Attributes as lower() writes them (codegen/lower.h): those of the node, and besides
  // head_dim (rms_norm, rope, kv_write, attention), sequences (attention), max_position (rope).
  static Result<BuiltinKernel> prepare(graph::OpKind op, const graph::Attrs& attrs,
                                       std::span<const TensorArg> tensors);

  // The share of `thread` of `threads`. Same shapes as at prepare(), any addresses.
  void run(std::span<const TensorArg> tensors, int thread, int threads) const;

 private:
  std::shared_ptr<const KernelState> state_;  // shared: kernels are copied with their programs
};

// The layout of a kLinear weight that the packed GEMM reads ("packed" in records/program.h).
PreparedLayout packed_linear_layout(graph::DType weight_dtype);

// False: the portable code runs, because this CPU lacks AVX2 or FMA.
bool has_vector_kernels();

// Tests only: run the portable code although the CPU could do better.
void force_portable_kernels(bool portable);

}  // namespace fusefarm::codegen
