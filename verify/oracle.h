// The oracle: what a graph means, in fp64, with the error that an honest implementation may make.
// It never exists in a process that loads candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::verify {

// A dense row-major tensor in somebody else's memory.
struct TensorView {
  graph::DType dtype = graph::DType::kBF16;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

using TensorValues = std::map<graph::TensorId, TensorView>;

// One float tensor, exact, with its error per element (error_bound.h). The last rounding to the
// tensor's own dtype is part of tolerance and radius.
struct OracleTensor {
  graph::DType dtype = graph::DType::kBF16;
  std::vector<std::int64_t> shape;
  // State (KV cache): only `rows` are held, in this order; every other row must keep the bits of
  // the state input. Otherwise rows is empty and every element is held.
  bool state = false;
  std::vector<std::int64_t> rows;
  std::vector<double> value, tolerance, radius;

  std::int64_t row_width() const;  // elements of one row (all dims but the first)
};

// Argmax: every id that rounding may make the best, per row, ascending.
struct OracleChoice {
  std::vector<std::vector<std::int32_t>> acceptable;
  // Oracle score minus the best other score, and the larger of the two tolerances, per row.
  std::vector<double> gap, tolerance;
};

// Router: scores with tolerance, so that a chosen set can be judged and its weights recomputed.
struct OracleRouting {
  graph::TensorId ids = graph::kNone, weights = graph::kNone;
  std::int64_t experts = 0, top_k = 0, groups = 1, top_groups = 1;
  bool renormalise = false, sigmoid = false;
  double scale = 1;
  std::vector<double> affinity, affinity_tolerance;  // [T,E]: what weights are made of
  std::vector<double> choice, choice_tolerance;      // [T,E]: what is ranked (with bias)
  std::vector<bool> ambiguous;                       // [T]: rounding may change the chosen set
  bool scores_exact = false;  // then equal scores are ties: the lower index goes first
};

struct Evaluated {
  std::map<graph::TensorId, OracleTensor> tensors;  // float outputs and exposed activations
  std::map<graph::TensorId, OracleChoice> choices;  // i32 outputs of kArgmax
  std::vector<OracleRouting> routings;              // of kRouterSelect whose outputs are visible
  // Scores behind each argmax (the logits), for token rules.
  std::map<graph::TensorId, OracleTensor> scores;  // by the argmax's output
};

struct EvaluateOptions {
  std::vector<graph::TensorId> exposed;  // interior tensors to keep
  int threads = 1;                       // for long contractions
  bool keep_scores = false;              // fill Evaluated::scores
};

// Every tensor that is read but not computed (boundary inputs, weights) must be in `inputs` with
// the bound shape. kRegion nodes are expanded. A row whose interior routing is ambiguous gets
// infinite tolerance from there on. Errors: kInvalidArgument (input missing, shape or index out of
// range), kUnsupported (collective over more than one rank).
Result<Evaluated> evaluate(const graph::Graph& graph, const graph::Bindings& bindings,
                           const TensorValues& inputs, const EvaluateOptions& options = {});

// Share of the float elements that nothing can be said about (infinite tolerance), of the output
// that has most of them. Inputs where it is large test nothing.
double excused_share(const Evaluated& evaluated);

}  // namespace fusefarm::verify
