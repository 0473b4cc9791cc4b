// Raw output bytes against the oracle.
#pragma once

#include <cstddef>
#include <span>

#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "records/outcome.h"
#include "verify/inputs.h"
#include "verify/oracle.h"

namespace fusefarm::verify {

struct Comparison {
  const graph::Graph* graph = nullptr;
  graph::Bindings bindings;
  const graph::BoundaryLayout* layout = nullptr;
  const Evaluated* oracle = nullptr;
  InputSpec spec;
  std::span<const std::byte> pristine;  // the image before the launch, poison included
  std::span<const std::byte> image;     // after it
};

// 100 % of the elements of every boundary output within tolerance, relative norms of the whole and
// of each tile (row by 64 columns, last partial tile included) within their limits, the same
// non-finite positions, indices by the tie rule, state rows that are not written bit-equal.
// failure: "numeric" | "nonfinite" | "unwritten" | "tail" | "state"; BoundaryError::worst_index
// says where.
CorrectnessRecord compare_outputs(const Comparison& comparison);

// Every boundary input that no node may overwrite has the bits it had.
bool inputs_unchanged(const Comparison& comparison);

// Bit-equality of all outputs (state included) of two images.
bool outputs_equal(const Comparison& comparison, std::span<const std::byte> other);

// The class a failed record stands for.
Verdict verdict_of(const CorrectnessRecord& record);

}  // namespace fusefarm::verify
