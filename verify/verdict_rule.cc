#include "verify/verdict_rule.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "verify/compare.h"
#include "verify/statistics.h"

namespace fusefarm::verify {
namespace {

// Classes that come from what happened, not from samples: nothing here could recompute them.
bool is_observed(VerdictClass klass) {
  switch (klass) {
    case VerdictClass::kImproved:
    case VerdictClass::kNoGain:
    case VerdictClass::kInconclusive:
    case VerdictClass::kRejectWrong:
    case VerdictClass::kSuspect:
      return false;
    default:
      return true;
  }
}

Verdict verdict(VerdictClass klass, std::string reason, std::string detail) {
  return {klass, std::move(reason), std::move(detail), kVerdictRuleVersion};
}

const PairedMeasurement* stage_of(const Outcome& outcome, const std::string& stage) {
  for (const PairedMeasurement& measurement : outcome.measurements) {
    if (measurement.stage == stage) {
      return &measurement;
    }
  }
  return nullptr;
}

Verdict from_gate(const GateDecision& decision, const std::string& stage) {
  switch (decision.step) {
    case GateStep::kNoGain:
      return verdict(VerdictClass::kNoGain, stage, decision.why);
    case GateStep::kPass:
      return verdict(VerdictClass::kImproved, "", decision.why);
    case GateStep::kContinue:
      return verdict(VerdictClass::kInconclusive, stage, decision.why + "; stopped early");
    case GateStep::kInconclusive:
      break;
  }
  if (decision.host_busy) {
    return verdict(VerdictClass::kInfra, "cotenant", stage + ": " + decision.why);
  }
  return verdict(VerdictClass::kInconclusive, stage, decision.why);
}

}  // namespace

double physical_floor_seconds(const graph::Cost& cost, const Roofs& roofs) {
  const bool in_cache = roofs.cache_bytes > 0 && cost.weight_bytes <= roofs.cache_bytes;
  const double fast = roofs.cache_bytes_per_second > 0 ? roofs.cache_bytes_per_second
                                                       : roofs.memory_bytes_per_second;
  const double weight_rate = in_cache ? fast : roofs.memory_bytes_per_second;
  double bytes_seconds = 0;
  if (weight_rate > 0) {
    bytes_seconds += static_cast<double>(cost.weight_bytes) / weight_rate;
  }
  if (fast > 0) {
    bytes_seconds += static_cast<double>(cost.bytes_read + cost.bytes_written) / fast;
  }
  const double flops_seconds = roofs.flops_per_second > 0 ? cost.flops / roofs.flops_per_second : 0;
  return std::max(bytes_seconds, flops_seconds);
}

VerdictPolicy verdict_policy(const GateSpec& spec, double floor_seconds) {
  VerdictPolicy policy;
  policy.screen = screen_policy(spec);
  policy.confirm = confirm_policy(spec);
  policy.floor_seconds = floor_seconds;
  return policy;
}

double median_launch_seconds(const PairedMeasurement& measurement, Arm arm) {
  std::vector<double> seconds;
  for (const Block& block : measurement.blocks) {
    for (const Quad& quad : block.quads) {
      for (const Slot& slot : quad.slots) {
        if (quad.discarded || slot.arm != arm) {
          continue;
        }
        seconds.push_back(static_cast<double>(slot.nanoseconds) * 1e-9 /
                          std::max(slot.launches, 1));
      }
    }
  }
  return seconds.empty() ? 0 : median(std::move(seconds));
}

Verdict judge_outcome(const Outcome& outcome, const VerdictPolicy& policy) {
  if (is_observed(outcome.verdict.klass)) {
    return outcome.verdict;
  }
  for (const CorrectnessRecord& record : outcome.correctness) {
    if (record.ok) {
      continue;
    }
    Verdict wrong = verdict_of(record);
    wrong.rule_version = kVerdictRuleVersion;
    return wrong;
  }
  if (outcome.correctness.empty()) {
    return verdict(VerdictClass::kInconclusive, "unverified", "no correctness record");
  }
  for (const PairedMeasurement& measurement : outcome.measurements) {
    const double seconds = median_launch_seconds(measurement, Arm::kCandidate);
    if (seconds > 0 && seconds < policy.floor_margin * policy.floor_seconds) {
      return verdict(
          VerdictClass::kSuspect, "floor",
          fmt::format("{:.3g} s a launch, but the compulsory traffic and arithmetic take "
                      "{:.3g} s",
                      seconds, policy.floor_seconds));
    }
  }
  const PairedMeasurement* screen = stage_of(outcome, "screen");
  if (screen == nullptr) {
    return verdict(VerdictClass::kInconclusive, "untimed", "no screen measurement");
  }
  const GateDecision screened = decide(*screen, policy.screen);
  if (screened.step != GateStep::kPass) {
    return from_gate(screened, "screen");
  }
  const PairedMeasurement* confirm = stage_of(outcome, "confirm");
  if (confirm == nullptr) {
    return verdict(VerdictClass::kInconclusive, "unconfirmed", screened.why);
  }
  return from_gate(decide(*confirm, policy.confirm), "confirm");
}

}  // namespace fusefarm::verify
