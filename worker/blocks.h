// A paired measurement over several blocks, each with fresh executors in random load order: what a
// process happens to be like (its pages, its place in the cache) is drawn anew each time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "verify/gate.h"
#include "worker/pairing.h"
#include "worker/session.h"

namespace fusefarm::worker {

struct BlockPlan {
  std::string stage;
  verify::GatePolicy policy;
  int quads_per_block = 8;
  std::uint64_t seed = 1, key = 0;  // of the order draws
  std::function<Result<std::optional<ArmProcess>>()> start_incumbent;
  std::function<Result<std::optional<ArmProcess>>(std::optional<Verdict>&)> start_candidate;
  PairOptions options;  // launches and quads_max are set here
  Duration slot{};      // target length
};

struct BlocksEnd {
  PairedMeasurement measurement;
  PairEnd last;  // its device time is that of all blocks
};

// Until the gate decides or the policy's cap is reached. Errors are infrastructure's.
Result<BlocksEnd> run_blocks(const BlockPlan& plan, TestBed& bed, const JobContext& context);

}  // namespace fusefarm::worker
