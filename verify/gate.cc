#include "verify/gate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "verify/statistics.h"

namespace fusefarm::verify {
namespace {

// Three quarters of at least this many discarded quads say that the host is too busy to time on.
// Fewer cost time only: a discard looks at telemetry, never at a time, so it favours no arm.
constexpr int kDiscardedMin = 24;

// Beyond what noise hides from a handful of quads (log speed-up).
constexpr double kHopeless = 0.08;

int count_discarded(const PairedMeasurement& measurement) {
  int discarded = 0;
  for (const Block& block : measurement.blocks) {
    discarded += static_cast<int>(std::count_if(block.quads.begin(), block.quads.end(),
                                                [](const Quad& quad) { return quad.discarded; }));
  }
  return discarded;
}

}  // namespace

const char* to_string(GateStep step) {
  switch (step) {
    case GateStep::kContinue:
      return "continue";
    case GateStep::kPass:
      return "pass";
    case GateStep::kNoGain:
      return "no_gain";
    case GateStep::kInconclusive:
      return "inconclusive";
  }
  return "?";
}

GateDecision decide(const PairedMeasurement& measurement, const GatePolicy& policy) {
  GateDecision decision;
  const std::vector<double> ratios = log_ratios(measurement);
  decision.discarded = count_discarded(measurement);
  decision.quads = static_cast<int>(ratios.size());
  const int total = decision.quads + decision.discarded;
  if (decision.discarded >= kDiscardedMin && decision.discarded * 4 > total * 3) {
    decision.step = GateStep::kInconclusive;
    decision.host_busy = true;
    decision.why =
        fmt::format("{} of {} quads discarded: the host is not quiet", decision.discarded, total);
    return decision;
  }
  if (ratios.empty()) {
    decision.why = "no quads yet";
    return decision;
  }
  decision.interval.estimate = median(ratios);
  decision.wins = static_cast<int>(
      std::count_if(ratios.begin(), ratios.end(), [&](double d) { return d > policy.threshold; }));
  decision.e_value = std::exp(log_sign_e_value(decision.quads, decision.wins));
  decision.why = fmt::format("{} of {} quads above {:+.2f} %, e = {:.3g}, estimate {:+.2f} %",
                             decision.wins, decision.quads, 100 * policy.threshold,
                             decision.e_value, 100 * std::expm1(decision.interval.estimate));
  if (decision.quads < std::min(policy.quads_min, policy.hopeless_after)) {
    return decision;
  }
  const std::vector<double> medians = block_medians(measurement);
  const bool enough_blocks = static_cast<int>(medians.size()) >= policy.blocks_min;
  if (decision.quads >= policy.quads_min && decision.e_value >= 1 / policy.alpha && enough_blocks &&
      median(medians) > policy.threshold) {
    decision.step = GateStep::kPass;
  } else if (decision.quads >= policy.hopeless_after && decision.wins == 0 &&
             decision.interval.estimate < policy.threshold - kHopeless) {
    decision.step = GateStep::kNoGain;
  } else if (decision.quads >= policy.futility_after &&
             decision.wins < policy.futility_share * decision.quads) {
    decision.step = GateStep::kNoGain;
  } else if (decision.quads >= policy.quads_max) {
    decision.step = GateStep::kInconclusive;
  }
  if (decision.step != GateStep::kContinue) {
    decision.interval = median_interval(ratios, policy.coverage);
  }
  return decision;
}

GatePolicy screen_policy(const GateSpec& spec) {
  GatePolicy policy;
  policy.threshold = spec.min_gain;
  return policy;
}

GatePolicy confirm_policy(const GateSpec& spec) {
  GatePolicy policy;
  policy.threshold = spec.min_gain;
  policy.alpha = spec.false_accept;
  policy.quads_min = 12;
  policy.quads_max = 96;
  policy.futility_after = 16;
  policy.blocks_min = 2;
  return policy;
}

GatePolicy non_inferiority_policy(double margin) {
  GatePolicy policy;
  policy.threshold = -margin;
  policy.quads_max = 64;
  policy.futility_after = 16;
  policy.blocks_min = 2;
  return policy;
}

GatePolicy superiority_policy() {
  GatePolicy policy;
  policy.threshold = 0;
  policy.alpha = 0.01;
  policy.quads_min = 12;
  policy.quads_max = 64;
  policy.futility_after = 24;
  policy.blocks_min = 2;
  return policy;
}

}  // namespace fusefarm::verify
