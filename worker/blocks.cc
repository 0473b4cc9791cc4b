#include "worker/blocks.h"

#include <algorithm>
#include <utility>

namespace fusefarm::worker {
namespace {

constexpr int kBlocksMax = 32;  // whatever is discarded

struct Started {
  std::optional<ArmProcess> incumbent, candidate;
  std::optional<Verdict> fault;
};

Result<Started> start_pair(const BlockPlan& plan, bool incumbent_first) {
  Started started;
  if (incumbent_first) {
    started.incumbent = TRY(plan.start_incumbent());
    started.candidate = TRY(plan.start_candidate(started.fault));
  } else {
    started.candidate = TRY(plan.start_candidate(started.fault));
    started.incumbent = TRY(plan.start_incumbent());
  }
  return started;
}

}  // namespace

Result<BlocksEnd> run_blocks(const BlockPlan& plan, TestBed& bed, const JobContext& context) {
  BlocksEnd end;
  end.measurement.stage = plan.stage;
  Duration device_time{};
  std::optional<std::uint32_t> launches;
  for (int number = 0; number < kBlocksMax; ++number) {
    if (context.stop()) {
      return Error{ErrorCode::kCancelled, "cancelled between blocks"};
    }
    Random random =
        Random::keyed(plan.seed, plan.stage, plan.key, static_cast<std::uint64_t>(number));
    Block& block = end.measurement.blocks.emplace_back();
    block.incumbent_loaded_first = random.coin();
    Started pair = TRY(start_pair(plan, block.incumbent_loaded_first));
    if (!pair.candidate) {
      end.last.fault = pair.fault;
      break;
    }
    PairOptions options = plan.options;
    if (!launches) {
      launches = TRY(launches_for(*pair.incumbent, bed, options.timed_entries, plan.slot));
    }
    options.launches = *launches;
    options.quads_max = plan.quads_per_block;
    end.last = TRY(run_quads({&*pair.incumbent, &*pair.candidate}, bed, options, plan.policy,
                             random, *context.cancelled, end.measurement));
    device_time += end.last.device_time;
    // Both gone, and their memory with them, before the next block starts.
    pair.incumbent->stop();
    pair.candidate->stop();
    const bool decided = end.last.decision.step != verify::GateStep::kContinue;
    if (decided || end.last.fault || end.last.wrong) {
      break;
    }
  }
  end.last.device_time = device_time;
  return end;
}

}  // namespace fusefarm::worker
