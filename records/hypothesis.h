// ECHO's unit of thought: a causal claim, the plan that tests it, and its independently evaluable
// units (design: change -> mechanism counter moves -> time falls).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.h"
#include "records/candidate.h"

namespace fusefarm {

struct CounterTarget {
  std::string counter;         // e.g. bytes_moved, steps, instructions
  double predicted_ratio = 1;  // candidate over incumbent
};

struct Hypothesis {
  std::string family;     // e.g. fuse_epilogue, tile_shape, prefetch
  std::string mechanism;  // one sentence
  std::vector<CounterTarget> targets;
  std::vector<CounterTarget> guards;  // must not exceed
  double gain_lo = 0, gain_hi = 0;    // predicted log speed-up
  std::string falsifier;
};

// An independently evaluable change with a toggle. In the first cut a unit carries its candidate.
struct Unit {
  std::string id;      // unique in its plan
  int hypothesis = 0;  // index into the plan's hypotheses
  Candidate candidate;
  std::vector<std::string> depends_on;
};

struct Plan {
  std::vector<Hypothesis> hypotheses;
  std::vector<Unit> units;
  std::string rationale;
};

}  // namespace fusefarm
