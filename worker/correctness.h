// Is a candidate right? Outputs on every pool entry against the oracle, and the same bits again:
// under another poison, after other inputs, and in another run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "records/outcome.h"
#include "worker/arm.h"
#include "worker/test_bed.h"

namespace fusefarm::worker {

struct Correctness {
  std::vector<CorrectnessRecord> records;
  std::optional<Verdict> fault;  // anything but wrong values: fault, hang, mutation, state, ...
  Duration device_time{};
};

// Errors are infrastructure's. Entries 0 and 1 of the bed differ in poison alone.
Result<Correctness> check_candidate(ArmProcess& arm, TestBed& bed, bool deterministic,
                                    Duration deadline);

}  // namespace fusefarm::worker
