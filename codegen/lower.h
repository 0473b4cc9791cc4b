// From a graph with an implementation chosen per region to the straight line of steps that an
// executor runs. Deterministic: equal inputs give equal programs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "records/candidate.h"
#include "records/program.h"

namespace fusefarm::codegen {

struct LowerOptions {
  graph::Bindings bindings;
  // The candidate of a region by its signature, or nullptr: its body runs unfused. Borrowed until
  // lower() returns. Unset: everything runs unfused.
  std::function<const Candidate*(const Digest& signature)> implementation;
  // Library of a kLinear ("packed", "openblas", "onednn") by rows, n, k, dtype of its weight.
  // Unset: packed.
  std::function<std::string(std::int64_t rows, std::int64_t n, std::int64_t k, graph::DType dtype)>
      gemm;
  // Where boundary tensors lie: graph::boundary_layout of the same graph and bindings. Tensors that
  // it places (exposed ones too) are never private.
  graph::BoundaryLayout boundary;
  // Weights region. weights.offset must hold every weight of the graph.
  graph::WeightLayout weights;
  // Distinct weight bytes that consecutive launches rotate over (residency): copies =
  // ceil(rotation_bytes / the graph's weight bytes), at most kCopiesMax. 0: a single copy.
  std::int64_t rotation_bytes = 0;
  int sets = 1;
};

constexpr std::int32_t kCopiesMax = 64;

struct Lowered {
  Program program;  // artifacts are sized, their paths empty: the caller compiles and fills them
  std::map<graph::TensorId, TensorRef> tensors;  // of the graph itself, not of bodies
  std::vector<Digest> artifacts;                 // candidate digest per program.artifacts entry
};

// Any graph: a region or a whole model, with or without kRegion nodes.
// Errors: kUnsupported for ops without a baseline kernel (collectives), kInvalidArgument for plans
// that contradict their region (argument out of range, unknown node, weight that is none).
Result<Lowered> lower(const graph::Graph& graph, const LowerOptions& options);

// The whole canonical region executed by one candidate's plan.
Result<Lowered> lower_candidate(const graph::Graph& region, const Candidate& candidate,
                                const LowerOptions& options);

}  // namespace fusefarm::codegen
