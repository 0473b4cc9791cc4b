// Runs experiments or finds their answer: admission by memo, start, job, durable outcome, verdict
// recomputed from the samples.
#pragma once

#include <string>
#include <vector>

#include "coordinator/campaign_state.h"
#include "coordinator/job_runner.h"
#include "coordinator/journal.h"
#include "search/echo.h"

namespace fusefarm::coordinator {

// All borrowed.
struct Parts {
  CampaignState& state;
  Journal& journal;
  JobRunner& jobs;
  ProgressSink& progress;
};

class ExperimentDesk {
 public:
  explicit ExperimentDesk(Parts parts) : parts_(parts) {}

  // One round's candidates of a cell. Outcomes reach `echo` in the candidates' order. False: the
  // time limit cut it short.
  Result<bool> screen(const search::RegionGroup& group, search::Echo& echo, int phase,
                      const std::vector<Candidate>& candidates, double limit_seconds);
  // The outcome with its confirmation.
  Result<Outcome> confirm(const search::RegionGroup& group, const Workload& workload, int phase,
                          const Candidate& candidate, const Outcome& screened);
  // `kind`: integration | end_to_end.
  Result<IntegrationResult> integrate(const std::string& kind, int phase,
                                      const ModelVersion& before, const ModelVersion& after);

  void report(const std::string& stage, int phase, const std::string& text, bool milestone);

 private:
  struct Batch;  // of one screen step

  Result<bool> replay_screen(const StepRecord& record, Batch& batch);
  Result<void> run_screen(Batch& batch, double limit_seconds);
  Result<void> settle(Batch& batch);
  ScreenJob screen_job(const search::RegionGroup& group, const Workload& workload) const;
  Outcome checked(Outcome outcome) const;
  void count(const Verdict& verdict);
  void charge(const std::string& account, double seconds, bool recorded);
  void charge_screen(const Batch& batch, const StepRecord& record, bool recorded);
  JobRunner::Handlers handlers(const std::string& stage, int phase, const std::string& subject);

  Parts parts_;
};

}  // namespace fusefarm::coordinator
