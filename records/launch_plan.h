// The declarative half of a candidate: what is launched, on what, in which order. Candidates bring
// device code only; every allocation, launch, layout change and timing is the farm's
// (docs/formats.md, format version 1).
//
// The CPU entry ABI, C linkage, one call per block, called by the runner's own threads:
//   typedef struct { void* data; long row_stride; } FfTensor;        // row_stride in elements
//   typedef struct { const FfTensor* tensors; const long* dims; } FfArgs;
//   void entry(const FfArgs* args, long block);
// `tensors` holds the step's tensor and buffer arguments in order, `dims` its dims and constants.
// Blocks of one step may run in any order and at once; steps run one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "graph/dim.h"
#include "graph/dtype.h"
#include "graph/graph.h"

namespace fusefarm {

constexpr int kLaunchPlanVersion = 1;

// ceil(dim / divisor): a grid of row blocks or column panels.
struct GridExpr {
  graph::Dim dim;
  std::int64_t divisor = 1;

  std::int64_t eval(const graph::Bindings& bindings) const {
    return (bindings.of(dim) + divisor - 1) / divisor;
  }

  friend bool operator==(const GridExpr&, const GridExpr&) = default;
};

// How a `prepared` buffer is laid out from a weight[N,K] (built once at load by the runner's own
// code, time and bytes reported). Panels of `panel` rows of the weight, K-major inside:
//   element (n, k) of panel p = source row order(p * panel + n), column k; n fastest.
// Rows past N are zero.
enum class RowOrder : std::uint8_t {
  kLinear,  // 0, 1, 2, ...
  kHalves,  // panel p of the gate half, then panel p of the up half: gate and up meet in one block
};

struct PreparedLayout {
  std::int64_t panel = 16;  // 0: row-major as the weight is, only the dtype changes
  RowOrder order = RowOrder::kLinear;
  graph::DType dtype = graph::DType::kBF16;
  // bf16 only: inside each group of 16 rows, row i and row i+8 share a 32-bit word (low, high
  // half), so that shift and mask widen them without a shuffle.
  bool pair_interleave = false;
  friend bool operator==(const PreparedLayout&, const PreparedLayout&) = default;
};

enum class BufferKind : std::uint8_t { kScratch, kZeroed, kPrepared };

struct BufferSpec {
  BufferKind kind = BufferKind::kScratch;
  graph::DType dtype = graph::DType::kF32;  // scratch, zeroed
  graph::Dim rows = graph::fixed(1);        // scratch, zeroed: rows x columns
  std::int64_t columns = 0;
  int weight = -1;        // prepared: index into the region's inputs
  PreparedLayout layout;  // prepared
  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

struct InputArg {
  int index = 0;  // of the region's inputs
  friend bool operator==(const InputArg&, const InputArg&) = default;
};

struct OutputArg {
  int index = 0;  // of the region's outputs
  friend bool operator==(const OutputArg&, const OutputArg&) = default;
};

struct BufferArg {  // scratch, zeroed, prepared
  int index = 0;    // of the plan's buffers
  friend bool operator==(const BufferArg&, const BufferArg&) = default;
};

struct DimArg {
  graph::Dim dim;
  friend bool operator==(const DimArg&, const DimArg&) = default;
};

struct ConstantArg {
  std::int64_t value = 0;
  friend bool operator==(const ConstantArg&, const ConstantArg&) = default;
};

using LaunchArg = std::variant<InputArg, OutputArg, BufferArg, DimArg, ConstantArg>;

// A block function of the candidate's source.
struct KernelStep {
  std::string entry;  // C identifier
  GridExpr grid;
  std::vector<LaunchArg> args;
  friend bool operator==(const KernelStep&, const KernelStep&) = default;
};

// One node of the region by the farm's own baseline kernel. Interior tensors that it reads or
// writes get buffers by themselves. A plan of library steps alone equals the unfused incumbent.
struct LibraryStep {
  graph::NodeId node = graph::kNone;  // of the region's canonical graph
  friend bool operator==(const LibraryStep&, const LibraryStep&) = default;
};

using PlanStep = std::variant<KernelStep, LibraryStep>;

struct LaunchPlan {
  int version = kLaunchPlanVersion;
  std::vector<BufferSpec> buffers;
  std::vector<PlanStep> steps;
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

}  // namespace fusefarm
