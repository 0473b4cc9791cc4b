// Paired timing of two arms in randomised quads, with every launch on values of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "records/measurement.h"
#include "records/outcome.h"
#include "records/verdict.h"
#include "verify/gate.h"
#include "worker/arm.h"
#include "worker/telemetry.h"
#include "worker/test_bed.h"

namespace fusefarm::worker {

struct PairOptions {
  std::uint32_t launches = 1;  // of each slot, the same for both arms
  int timed_entries = 1;       // pool entries that slots draw from
  int quads_max = 1;           // of this call; the policy's own cap holds besides
  double verify_share = 0.25;  // of the candidate's slots, whose outputs are checked afterwards
  bool compare_outputs = true;
  Duration deadline{};  // of a slot
};

struct PairEnd {
  verify::GateDecision decision;
  std::optional<Verdict> fault;            // the candidate's; the measurement ends there
  std::optional<CorrectnessRecord> wrong;  // of a timed launch
  Duration device_time{};
};

// The arms of a comparison; both alive.
struct Pair {
  ArmProcess* incumbent = nullptr;
  ArmProcess* candidate = nullptr;
};

// Adds quads to the last block of `measurement` until the gate decides, the block is full or
// `cancelled`. Slots disturbed by others are kept and marked. An Error is infrastructure's (the
// incumbent failed, the judge is gone, cancelled).
Result<PairEnd> run_quads(Pair pair, TestBed& bed, const PairOptions& options,
                          const verify::GatePolicy& policy, Random& random,
                          const std::function<bool()>& cancelled, PairedMeasurement& measurement);

// Launches that fill a slot of `target`, from the time of the incumbent's own launches.
Result<std::uint32_t> launches_for(ArmProcess& incumbent, TestBed& bed, int timed_entries,
                                   Duration target);

}  // namespace fusefarm::worker
