#include "worker/pairing.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kLaunchesMax = 1U << 14;
constexpr Duration kProbeDeadline = 30s;

class QuadRunner {
 public:
  QuadRunner(Pair pair, TestBed& bed, const PairOptions& options, Random& random)
      : arms_{pair.incumbent, pair.candidate},
        bed_(bed),
        options_(options),
        random_(random),
        telemetry_{Telemetry::attach(pair.incumbent->pid()),
                   Telemetry::attach(pair.candidate->pid())} {}

  // One slot of each arm whose time is not kept: pages, caches and branch predictors.
  Result<void> warm_up(PairEnd& end) {
    for (const Arm which : {Arm::kIncumbent, Arm::kCandidate}) {
      Quad unused;
      TRY(run_slot(which, unused.slots[0], unused, end));
    }
    return {};
  }

  Result<Quad> run(PairEnd& end) {
    const bool incumbent_outside = random_.coin();
    Quad quad;
    for (std::size_t i = 0; i < 4 && !end.fault && !end.wrong; ++i) {
      const bool outer = i == 0 || i == 3;
      const Arm which = outer == incumbent_outside ? Arm::kIncumbent : Arm::kCandidate;
      TRY(run_slot(which, quad.slots[i], quad, end));
    }
    return quad;
  }

 private:
  Result<void> run_slot(Arm which, Slot& slot, Quad& quad, PairEnd& end) {
    const auto index = static_cast<std::size_t>(which);
    ArmProcess& arm = *arms_[index];
    bed_.refill(static_cast<int>(random_.below(static_cast<std::uint64_t>(options_.timed_entries))),
                options_.timed_entries);
    const auto first =
        static_cast<std::uint32_t>(random_.below(static_cast<std::uint64_t>(bed_.sets())));
    const auto pattern = static_cast<std::uint32_t>(random_.below(1U << 16));
    SlotEnd ran = arm.poison(pattern, options_.deadline);
    if (!ran.fault) {
      const Telemetry::Reading before = telemetry_[index].read();
      ran = arm.launch(first, options_.launches, options_.deadline);
      const Telemetry::Reading after = telemetry_[index].read();
      end.device_time += ran.elapsed;
      slot = {which, ran.elapsed.count(), static_cast<std::int32_t>(options_.launches)};
      if (std::string why = disturbance(before, after, ran.elapsed); !why.empty()) {
        quad.discarded = true;
        quad.discard_reason = std::move(why);
      }
    }
    if (ran.fault && which == Arm::kIncumbent) {
      return Error{ErrorCode::kUnavailable, "the incumbent failed: " + ran.fault->detail};
    }
    end.fault = ran.fault;
    if (!end.fault && which == Arm::kCandidate && options_.compare_outputs &&
        random_.uniform() < options_.verify_share) {
      return verify_launch(first, end);
    }
    return {};
  }

  // A random one of the launches just timed: its set still holds what it wrote.
  Result<void> verify_launch(std::uint32_t first, PairEnd& end) {
    const auto sets = static_cast<std::uint32_t>(bed_.sets());
    const std::uint32_t used = std::min(options_.launches, sets);
    const auto set = static_cast<int>((first + random_.below(used)) % sets);
    const childlink::Compared compared = TRY(bed_.compare(set));
    if (!compared.record.ok) {
      end.wrong = compared.record;
    } else if (!compared.inputs_unchanged) {
      Verdict verdict;
      verdict.klass = VerdictClass::kRejectMutation;
      verdict.reason = "inputs";
      verdict.detail = "a timed launch changed its inputs";
      end.fault = verdict;
    }
    return {};
  }

  std::array<ArmProcess*, 2> arms_;
  TestBed& bed_;
  const PairOptions& options_;
  Random& random_;
  std::array<Telemetry, 2> telemetry_;
};

}  // namespace

Result<PairEnd> run_quads(Pair pair, TestBed& bed, const PairOptions& options,
                          const verify::GatePolicy& policy, Random& random,
                          const std::function<bool()>& cancelled, PairedMeasurement& measurement) {
  QuadRunner runner(pair, bed, options, random);
  PairEnd end;
  TRY(runner.warm_up(end));
  for (int i = 0; i < options.quads_max && !end.fault && !end.wrong; ++i) {
    if (cancelled()) {
      return Error{ErrorCode::kCancelled, "cancelled between slots"};
    }
    Quad quad = TRY(runner.run(end));
    if (end.fault || end.wrong) {
      break;
    }
    measurement.blocks.back().quads.push_back(std::move(quad));
    end.decision = verify::decide(measurement, policy);
    if (end.decision.step != verify::GateStep::kContinue) {
      break;
    }
  }
  return end;
}

Result<std::uint32_t> launches_for(ArmProcess& incumbent, TestBed& bed, int timed_entries,
                                   Duration target) {
  Duration best = Duration::max();
  // The first launch touches everything for the first time.
  for (int i = 0; i < 4; ++i) {
    bed.refill(i, timed_entries);
    const SlotEnd end = incumbent.launch(0, 1, kProbeDeadline);
    if (end.fault) {
      return Error{ErrorCode::kUnavailable, "the incumbent failed: " + end.fault->detail};
    }
    if (i > 0) {
      best = std::min(best, end.elapsed);
    }
  }
  const auto once = std::max<std::int64_t>(best.count(), 1'000);
  auto count =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(target.count() / once, 1, kLaunchesMax));
  if (count == 1) {
    return count;
  }
  // A single launch is mostly the signal's own time when the region is small: measure again.
  const SlotEnd end = incumbent.launch(0, count, kProbeDeadline);
  if (end.fault) {
    return Error{ErrorCode::kUnavailable, "the incumbent failed: " + end.fault->detail};
  }
  const double factor = static_cast<double>(target.count()) /
                        static_cast<double>(std::max<std::int64_t>(end.elapsed.count(), 1));
  return static_cast<std::uint32_t>(
      std::clamp(factor * static_cast<double>(count), 1.0, static_cast<double>(kLaunchesMax)));
}

}  // namespace fusefarm::worker
