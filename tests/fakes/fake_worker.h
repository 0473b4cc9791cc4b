// A worker that measures nothing: times follow a made-up law with seeded noise, in the form of raw
// samples, so that statistics, gate and verdict are the real ones. Its numbers never leave tests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "records/transport.h"
#include "tests/fakes/fake_clock.h"

namespace fusefarm::fakes {

struct FakeWorld {
  // True log speed-up of a candidate over the unfused baseline.
  std::function<double(const Digest& region, const Workload& workload, const Candidate& candidate)>
      gain;
  // A verdict instead of a measurement, e.g. REJECT_WRONG; nothing: it is measured.
  std::function<std::optional<Verdict>(const Candidate& candidate)> defect;
  std::set<Digest> breaks_integration;  // region signatures
  double noise = 0.004;                 // standard deviation of a quad's log-ratio
  double screen_seconds = 1, confirm_seconds = 3, integrate_seconds = 8, profile_seconds = 10;
};

// A smooth hill over the schedule's tile, of another height and place per region and workload.
double hill_gain(const Digest& region, const Workload& workload, const Candidate& candidate);

class FakeWorker final : public JobHandler {
 public:
  // Borrowed. `clock` may be null.
  FakeWorker(const FakeWorld& world, FakeClock* clock) : world_(world), clock_(clock) {}

  Result<JobResult> run(const Job& job, const std::function<void(TransportEvent)>& report,
                        const std::function<bool()>& cancelled, LeaseId lease) override;

  // How often a candidate was screened or confirmed, by digest and stage.
  const std::map<std::string, int>& runs() const { return runs_; }

  int jobs() const { return jobs_; }

  int measured() const { return measured_; }

 private:
  Result<JobResult> profile(const ProfileJob& job);
  Result<JobResult> screen(const ScreenJob& job, const std::function<void(TransportEvent)>& report,
                           const std::function<bool()>& cancelled, LeaseId lease);
  Result<JobResult> confirm(const ConfirmJob& job);
  Result<JobResult> integrate(const IntegrateJob& job);
  Outcome new_outcome(const ScreenJob& job, const Candidate& candidate, ExperimentId id) const;
  // Of a candidate over what the job names as incumbent.
  double relative_gain(const ScreenJob& job, const Candidate& candidate) const;
  void spend(double seconds);

  const FakeWorld& world_;
  FakeClock* clock_;
  std::map<std::string, int> runs_;
  int jobs_ = 0, measured_ = 0;
};

}  // namespace fusefarm::fakes
