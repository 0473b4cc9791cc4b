// What an executor runs: a straight line of steps over buffers, lowered from a graph with an
// implementation chosen per node. The same form serves one region and a whole model, incumbent and
// candidate alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attrs.h"
#include "graph/dtype.h"
#include "graph/op.h"
#include "records/launch_plan.h"

namespace fusefarm {

// Where a buffer lives.
enum class Placement : std::uint8_t {
  kBoundary,  // shared with the worker and the other arm; one instance per launch set
  kWeights,   // shared, read-only; one instance
  kPrivate,   // the executor's own scratch; poisoned before every launch, one instance
  kPrepared,  // the executor's own copy of a weight in another layout; built at load
};

struct ProgramBuffer {
  Placement placement = Placement::kPrivate;
  graph::DType dtype = graph::DType::kF32;
  std::int64_t rows = 0, columns = 0;  // dense; bytes = rows * columns * bytes_of(dtype)
  // kBoundary: byte offset inside one launch set. kWeights: byte offset in the weights region.
  std::int64_t offset = 0;
  // kBoundary: an output that must be poisoned before each launch (not state, not an input).
  bool poison = false;
  std::int32_t source = -1;  // kPrepared: index of the kWeights buffer it is made from
  PreparedLayout layout;     // kPrepared
  // kPrepared and kWeights: distinct copies the launches rotate over, so that the last-level cache
  // does not hold a weight that is cold in the model (residency, docs/formats.md).
  std::int32_t copies = 1;
  std::string name;  // for people
};

// A view: rows x columns of a buffer from a column offset. row_stride = the buffer's columns.
struct TensorRef {
  std::int32_t buffer = -1;
  std::int64_t column = 0;  // first element of row 0
  std::int64_t row_stride = 0;
  std::int64_t rows = 0, columns = 0;
};

enum class StepKind : std::uint8_t { kBuiltin, kCandidate };

struct ProgramStep {
  StepKind kind = StepKind::kBuiltin;
  // kBuiltin: a baseline kernel by op, its tensors in the op's input then output order; `choice`
  // picks the implementation of a kLinear: "packed", "openblas", "onednn".
  graph::OpKind op = graph::OpKind::kAdd;
  graph::Attrs attrs;
  std::string choice;
  // kCandidate: entry of artifact number `artifact`, its grid already evaluated.
  std::int32_t artifact = -1;
  std::string entry;
  std::int64_t blocks = 0;
  std::vector<std::int64_t> dims;
  std::vector<TensorRef> tensors;
  std::int32_t node = -1;  // graph node it comes from, for profiles and reports
};

struct Program {
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramStep> steps;
  std::vector<std::string> artifacts;  // paths of shared objects, loaded in this order
  std::int64_t set_bytes = 0;          // of one launch set of boundary memory
  std::int64_t weight_bytes = 0;       // of the weights region
  int sets = 1;                        // launch sets; launch i uses set i mod sets
};

}  // namespace fusefarm
