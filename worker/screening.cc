// One region, several candidates: static check -> build -> inspect -> correctness -> screen.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/log.h"
#include "verify/compare.h"
#include "verify/elf_check.h"
#include "verify/static_check.h"
#include "verify/verdict_rule.h"
#include "worker/correctness.h"
#include "worker/outcome_parts.h"
#include "worker/region_bench.h"
#include "worker/session.h"

namespace fusefarm::worker {
namespace {

class Screening {
 public:
  Screening(Session& session, const ScreenJob& job, const JobContext& context)
      : session_(session), job_(job), context_(context) {}

  Result<ScreenResult> run() {
    if (job_.experiments.size() != job_.candidates.size()) {
      return Error{ErrorCode::kInvalidArgument,
                   "a screen job names " + std::to_string(job_.experiments.size()) +
                       " experiments for " + std::to_string(job_.candidates.size()) +
                       " candidates"};
    }
    bench_ = TRY(RegionBench::create(session_, job_, context_));
    TRY(refuse_and_build());
    ScreenResult result;
    for (std::size_t i = 0; i < job_.candidates.size(); ++i) {
      if (context_.stop()) {
        return Error{ErrorCode::kCancelled, "cancelled between candidates"};
      }
      context_.progress("screen", job_.candidates[i].family);
      Outcome& outcome = outcomes_[i];
      if (!verdicts_[i]) {
        TRY(evaluate(job_.candidates[i], outcome));
      } else {
        outcome.verdict = *verdicts_[i];
      }
      result.outcomes.push_back(outcome);
      (*context_.report)({context_.lease, outcome});
    }
    return result;
  }

 private:
  // All builds first, side by side, so that no compiler runs beside a timed slot.
  Result<void> refuse_and_build() {
    const graph::Bindings bindings = job_.workload.bindings();
    std::vector<const Candidate*> to_build;
    verdicts_.resize(job_.candidates.size());
    for (std::size_t i = 0; i < job_.candidates.size(); ++i) {
      const Candidate& candidate = job_.candidates[i];
      outcomes_.push_back(TRY(outcome_of(session_, job_, candidate, job_.experiments[i])));
      verdicts_[i] = verify::static_check(candidate, *job_.region, bindings);
      if (!verdicts_[i] && !verify::required_entries(candidate).empty()) {
        to_build.push_back(&candidate);
      }
    }
    context_.progress("compile", std::to_string(to_build.size()) + " candidates");
    TRY(session_.builds().build(to_build, *context_.cancelled));
    for (std::size_t i = 0; i < job_.candidates.size(); ++i) {
      const Artifact* artifact = session_.builds().find(job_.candidates[i]);
      if (verdicts_[i] || artifact == nullptr) {
        continue;
      }
      outcomes_[i].compile_seconds = artifact->seconds;
      verdicts_[i] = artifact->refused ? artifact->refused : inspect(job_.candidates[i], *artifact);
    }
    return {};
  }

  static std::optional<Verdict> inspect(const Candidate& candidate, const Artifact& artifact) {
    return verify::elf_check(std::as_bytes(std::span(artifact.bytes)),
                             verify::required_entries(candidate));
  }

  Result<void> evaluate(const Candidate& candidate, Outcome& outcome) {
    std::optional<Verdict> fault;
    auto arm = TRY(bench_->start_candidate(candidate, fault));
    if (!arm) {
      outcome.verdict = *fault;
      return {};
    }
    outcome.prepare_seconds = arm->report().prepare_seconds;
    outcome.prepared_bytes = arm->report().prepared_bytes;
    Correctness checked =
        TRY(check_candidate(*arm, bench_->bed(), candidate.deterministic, kSlotDeadline));
    outcome.device_seconds += seconds(checked.device_time);
    outcome.correctness = std::move(checked.records);
    if (checked.fault) {
      outcome.verdict = *checked.fault;
      return {};
    }
    const bool right = std::ranges::all_of(outcome.correctness, &CorrectnessRecord::ok);
    if (right) {
      TRY(time(*arm, outcome));
    }
    if (outcome.verdict.klass == VerdictClass::kInconclusive) {
      outcome.verdict = verify::judge_outcome(outcome, policy(outcome));
    }
    return {};
  }

  verify::VerdictPolicy policy(const Outcome& outcome) const {
    return verify::verdict_policy(session_.options().gate,
                                  trusted_floor(outcome, bench_->floor_seconds()));
  }

  // The incumbent's executor serves the whole job.
  Result<void> time(ArmProcess& candidate, Outcome& outcome) {
    if (!incumbent_) {
      incumbent_ = TRY(bench_->start_incumbent());
      launches_ =
          TRY(launches_for(*incumbent_, bench_->bed(), bench_->timed_entries(), kScreenSlot));
    }
    PairOptions options;
    options.timed_entries = bench_->timed_entries();
    options.deadline = kSlotDeadline;
    options.quads_max = kQuadsOfScreen;
    options.launches =
        shared_launches(candidate, bench_->bed(), options.timed_entries, launches_, kScreenSlot);
    PairedMeasurement measurement;
    measurement.stage = "screen";
    measurement.blocks.emplace_back();
    measurement.blocks.back().incumbent_loaded_first = true;
    Random random = Random::keyed(session_.options().seed, "screen", outcome.experiment.value,
                                  outcome.candidate.prefix());
    const PairEnd end =
        TRY(run_quads({&*incumbent_, &candidate}, bench_->bed(), options, policy(outcome).screen,
                      random, *context_.cancelled, measurement));
    add_measurement(std::move(measurement), end, outcome);
    outcome.screen = end.decision.interval;
    return {};
  }

  static constexpr int kQuadsOfScreen = 64;

  Session& session_;
  const ScreenJob& job_;
  const JobContext& context_;
  std::optional<RegionBench> bench_;
  std::optional<ArmProcess> incumbent_;
  std::uint32_t launches_ = 1;
  std::vector<Outcome> outcomes_;
  std::vector<std::optional<Verdict>> verdicts_;  // before anything ran
};

}  // namespace

Result<ScreenResult> run_screen(Session& session, const ScreenJob& job, const JobContext& context) {
  return Screening(session, job, context).run();
}

}  // namespace fusefarm::worker
