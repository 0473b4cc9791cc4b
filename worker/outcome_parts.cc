#include "worker/outcome_parts.h"

#include <algorithm>
#include <utility>

#include "verify/verdict_rule.h"

namespace fusefarm::worker {

Result<Outcome> outcome_of(Session& session, const ScreenJob& job, const Candidate& candidate,
                           ExperimentId experiment) {
  Outcome outcome;
  outcome.experiment = experiment;
  outcome.region = job.signature;
  outcome.workload = job.workload.name;
  outcome.candidate = candidate.digest();
  outcome.incumbent = job.incumbent_digest;
  outcome.family = candidate.family;
  outcome.device_class = session.device_class();
  outcome.toolchain = TRY(session.toolchain());
  outcome.isolation = session.isolation();
  return outcome;
}

void add_measurement(PairedMeasurement measurement, const PairEnd& end, Outcome& outcome) {
  outcome.device_seconds += seconds(end.device_time);
  outcome.measurements.push_back(std::move(measurement));
  if (end.wrong) {
    outcome.correctness.push_back(*end.wrong);
  }
  if (end.fault) {
    outcome.verdict = *end.fault;
  }
}

double trusted_floor(const Outcome& outcome, double floor_seconds) {
  for (const PairedMeasurement& measurement : outcome.measurements) {
    const double incumbent = verify::median_launch_seconds(measurement, Arm::kIncumbent);
    if (incumbent > 0 && incumbent < floor_seconds) {
      return 0;
    }
  }
  return floor_seconds;
}

std::uint32_t shared_launches(ArmProcess& candidate, TestBed& bed, int timed_entries,
                              std::uint32_t launches, Duration slot) {
  bed.refill(0, timed_entries);
  // A short run is enough to see a candidate that is several times slower.
  const std::uint32_t trial = std::max<std::uint32_t>(launches / 8, 1);
  const SlotEnd end = candidate.launch(0, trial, kSlotDeadline);
  if (end.fault) {
    return launches;  // the slots that follow will meet it again and say whose it is
  }
  const double expected =
      seconds(end.elapsed) * static_cast<double>(launches) / static_cast<double>(trial);
  const double factor = expected / seconds(slot);
  if (factor <= 3) {
    return launches;
  }
  return std::max<std::uint32_t>(
      static_cast<std::uint32_t>(3 * static_cast<double>(launches) / factor), 1);
}

}  // namespace fusefarm::worker
