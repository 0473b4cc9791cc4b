// A second opinion on graphs: naive loops, written apart from the oracle. In double without
// rounding it is the value; in float with a rounding after each op it is the unfused honest engine;
// with a mutation it is a plausible wrong one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.h"
#include "verify/oracle.h"

namespace fusefarm::verify {

enum class Mutation {
  kNone,
  kNoEps,
  kInterleavedRope,
  kSwappedGateUp,
  kSlotOffByOne,
  kDroppedDepth,     // last 16 columns of a contraction
  kNoScale,          // attention
  kSeesFuture,       // attention: one position more
  kMeanWithoutLast,  // norm: mean over all but the last element
  kNoResidual,
  kWrongTheta,
  kLowAccuracy,  // contraction accumulates in bf16
};

using Elements = std::map<graph::TensorId, std::vector<double>>;

struct EngineOptions {
  bool exact = true;  // double without rounding; otherwise float, rounded after each op
  Mutation mutation = Mutation::kNone;
};

// Every tensor of the graph (no kRegion nodes).
Elements run_reference(const graph::Graph& graph, const graph::Bindings& bindings,
                       const TensorValues& inputs, const EngineOptions& options);

}  // namespace fusefarm::verify
