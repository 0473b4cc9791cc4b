// What screening and confirmation write into an outcome in the same way.
#pragma once

#include "base/result.h"
#include "records/job.h"
#include "worker/pairing.h"
#include "worker/session.h"

namespace fusefarm::worker {

constexpr Duration kScreenSlot = std::chrono::milliseconds(20);
constexpr Duration kConfirmSlot = std::chrono::milliseconds(25);
constexpr Duration kSlotDeadline = std::chrono::seconds(5);

// Everything that is known before anything has run; its verdict is still open (kInconclusive).
Result<Outcome> outcome_of(Session& session, const ScreenJob& job, const Candidate& candidate,
                           ExperimentId experiment);

// Samples, device time, and what went wrong in a timed launch.
void add_measurement(PairedMeasurement measurement, const PairEnd& end, Outcome& outcome);

// The physical floor of an outcome's verdict. A floor that the incumbent itself is below says that
// the roofs were measured on a busy host: then there is none (0).
double trusted_floor(const Outcome& outcome, double floor_seconds);

// The launches of a slot that suit both arms: those of the incumbent, fewer when the candidate is
// much slower, so that a bad candidate costs little.
std::uint32_t shared_launches(ArmProcess& candidate, TestBed& bed, int timed_entries,
                              std::uint32_t launches, Duration slot);

}  // namespace fusefarm::worker
