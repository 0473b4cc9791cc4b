#include "coordinator/experiment_desk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "coordinator/experiment_keys.h"
#include "verify/verdict_rule.h"

namespace fusefarm::coordinator {
namespace {

std::string subject(const search::RegionGroup& group, const Workload& workload) {
  return fmt::format("{} ({}) under {}", group.signature.short_hex(), group.pattern, workload.name);
}

Outcome infrastructure_outcome(const store::ExperimentKey& key, const std::string& detail) {
  Outcome outcome;
  outcome.region = key.region;
  outcome.workload = key.workload.name;
  outcome.candidate = key.candidate;
  outcome.incumbent = key.incumbent;
  outcome.verdict = {VerdictClass::kInfra, "environment", detail};
  return outcome;
}

Error lost_outcome(const std::string& what) {
  return Error{ErrorCode::kIntegrity, "the store has no outcome of a step it records: " + what +
                                          "; restore the database or use another store.path"};
}

}  // namespace

// Outcomes by candidate index; the prefix that is complete has been observed.
struct ExperimentDesk::Batch {
  const search::RegionGroup& group;
  search::Echo& echo;
  const std::vector<Candidate>& candidates;
  int phase = 0;
  std::string what;
  std::vector<store::ExperimentKey> keys;
  std::vector<std::optional<Outcome>> outcomes;
  std::vector<ExperimentId> ids;  // none: answered by the store
  std::size_t observed = 0;
  StepRecord record;

  bool complete() const { return observed == candidates.size(); }
};

ScreenJob ExperimentDesk::screen_job(const search::RegionGroup& group,
                                     const Workload& workload) const {
  const ModelVersion& current = parts_.state.current;
  ScreenJob job;
  job.model = current.graph;
  job.region = group.region;
  job.signature = group.signature;
  job.tensor_of = group.tensor_of;
  job.workload = workload;
  job.incumbent = group.incumbent;
  job.implementations = implementations_inside(group, current.implementations, workload.name);
  job.incumbent_digest = incumbent_digest(group, current.implementations, workload.name);
  return job;
}

Outcome ExperimentDesk::checked(Outcome outcome) const {
  // Floors are the worker's (its roofs are finer than the profile's), so what it held back as
  // suspect stays so.
  const verify::VerdictPolicy policy = verify::verdict_policy(parts_.state.spec.gate, 0);
  const Verdict own = verify::judge_outcome(outcome, policy);
  if (outcome.verdict.klass == VerdictClass::kSuspect || own.klass == outcome.verdict.klass) {
    return outcome;
  }
  const std::string detail = fmt::format("the worker says {}, its samples say {}",
                                         to_string(outcome.verdict.klass), to_string(own.klass));
  logger("coordinator")
      .warn("verdict_disagrees candidate={} {}", outcome.candidate.short_hex(), detail);
  outcome.verdict = {VerdictClass::kSuspect, "verdict", detail};
  return outcome;
}

void ExperimentDesk::count(const Verdict& verdict) {
  ++parts_.state.verdicts[to_string(verdict.klass)];
  ++parts_.state.experiments;
}

void ExperimentDesk::charge(const std::string& account, double seconds, bool recorded) {
  parts_.state.ledger.charge(account, seconds);
  if (recorded) {
    parts_.state.recorded_seconds += seconds;
  }
}

void ExperimentDesk::report(const std::string& stage, int phase, const std::string& text,
                            bool milestone) {
  Progress progress;
  progress.stage = stage;
  progress.phase = phase;
  progress.text = text;
  progress.milestone = milestone;
  progress.spent_seconds = parts_.state.ledger.spent();
  progress.budget_seconds = parts_.state.ledger.total();
  progress.experiments = parts_.state.experiments;
  for (const RewriteRecord& rewrite : parts_.state.rewrites) {
    if (rewrite.committed) {
      ++progress.rewrites;
    }
  }
  parts_.progress.on_progress(progress);
}

JobRunner::Handlers ExperimentDesk::handlers(const std::string& stage, int phase,
                                             const std::string& subject_text) {
  JobRunner::Handlers result;
  result.on_progress = [this, stage, phase, subject_text](const JobProgress& progress) {
    report(stage, phase, subject_text + ": " + progress.stage + " " + progress.detail, false);
  };
  return result;
}

void ExperimentDesk::charge_screen(const Batch& batch, const StepRecord& record, bool recorded) {
  charge("screen", record.seconds, recorded);
  if (record.seconds > 0 && record.done > 0) {
    const double each = record.seconds / static_cast<double>(record.done);
    parts_.state.screen_slowness.observe(
        each / search::predicted_screen_seconds(batch.echo.inputs().now_seconds));
  }
}

// Observes and stores the complete prefix, so that the order never depends on who finished first.
Result<void> ExperimentDesk::settle(Batch& batch) {
  while (!batch.complete() && batch.outcomes[batch.observed]) {
    Outcome& outcome = *batch.outcomes[batch.observed];
    batch.echo.observe(outcome);
    count(outcome.verdict);
    if (is_infrastructure(outcome.verdict.klass)) {
      batch.record.infra.push_back(static_cast<std::int64_t>(batch.observed));
    }
    const ExperimentId id = batch.ids[batch.observed];
    ++batch.observed;
    if (id) {
      TRY(parts_.journal.finish(id, outcome));
    }
  }
  return {};
}

Result<bool> ExperimentDesk::replay_screen(const StepRecord& record, Batch& batch) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(record.done); ++i) {
    if (i >= batch.candidates.size()) {
      return lost_outcome(batch.what);
    }
    const bool infra = std::find(record.infra.begin(), record.infra.end(),
                                 static_cast<std::int64_t>(i)) != record.infra.end();
    if (infra) {
      batch.outcomes[i] = infrastructure_outcome(batch.keys[i], "as recorded");
    } else {
      batch.outcomes[i] = TRY(parts_.journal.find_outcome(batch.phase, batch.keys[i]));
      if (!batch.outcomes[i]) {
        return lost_outcome(batch.what);
      }
    }
  }
  TRY(settle(batch));
  charge_screen(batch, record, true);
  return !record.cut;
}

Result<void> ExperimentDesk::run_screen(Batch& batch, double limit_seconds) {
  std::vector<store::ExperimentKey> open_keys;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < batch.candidates.size(); ++i) {
    batch.outcomes[i] = TRY(parts_.journal.find_outcome(batch.phase, batch.keys[i]));
    if (batch.outcomes[i]) {
      continue;
    }
    TRY(parts_.journal.store().save_candidate(batch.candidates[i]));
    open_keys.push_back(batch.keys[i]);
    open.push_back(i);
  }
  if (open.empty()) {
    return settle(batch);
  }
  const std::vector<ExperimentId> ids = TRY(parts_.journal.start(batch.phase, open_keys));
  const Workload& workload = batch.echo.inputs().workload;
  ScreenJob job = screen_job(batch.group, workload);
  for (std::size_t i = 0; i < open.size(); ++i) {
    batch.ids[open[i]] = ids[i];
    job.candidates.push_back(batch.candidates[open[i]]);
    job.experiments.push_back(ids[i]);
  }
  const auto accept = [&](Outcome outcome) -> Result<void> {
    for (const std::size_t i : open) {
      if (batch.ids[i] != outcome.experiment || batch.outcomes[i]) {
        continue;
      }
      batch.outcomes[i] = checked(std::move(outcome));
      return settle(batch);
    }
    return {};
  };
  JobRunner::Handlers handle = handlers("screen", batch.phase, subject(batch.group, workload));
  handle.on_outcome = accept;
  const JobRun run = TRY(parts_.jobs.run(std::move(job), handle, limit_seconds));
  if (run.result) {
    const auto* screened = std::get_if<ScreenResult>(&*run.result);
    if (screened == nullptr) {
      return Error{ErrorCode::kInternal, "a screen gave no screen result"};
    }
    for (const Outcome& outcome : screened->outcomes) {
      TRY(accept(outcome));
    }
  }
  batch.record.cut = !batch.complete();
  for (std::size_t i = batch.observed; i < batch.candidates.size(); ++i) {
    if (batch.ids[i]) {
      TRY(parts_.journal.abandon(batch.ids[i], "the time limit"));
    }
  }
  batch.record.seconds = run.seconds;
  return {};
}

Result<bool> ExperimentDesk::screen(const search::RegionGroup& group, search::Echo& echo, int phase,
                                    const std::vector<Candidate>& candidates,
                                    double limit_seconds) {
  const Workload& workload = echo.inputs().workload;
  Batch batch{group, echo, candidates, phase, "", {}, {}, {}, 0, {}};
  batch.what =
      fmt::format("phase {} {} round {}:", phase, subject(group, workload), echo.rounds() + 1);
  for (const Candidate& candidate : candidates) {
    batch.keys.push_back(
        region_key(parts_.state, store::ExperimentKind::kScreen, group, workload, candidate));
    batch.what += " " + batch.keys.back().candidate.short_hex();
  }
  batch.outcomes.resize(candidates.size());
  batch.ids.resize(candidates.size());
  if (const auto record = TRY(parts_.journal.recorded("screen", batch.what))) {
    return replay_screen(*record, batch);
  }
  TRY(run_screen(batch, limit_seconds));
  batch.record.done = static_cast<std::int64_t>(batch.observed);
  TRY(parts_.journal.record("screen", batch.what, batch.record));
  charge_screen(batch, batch.record, false);
  return !batch.record.cut;
}

Result<Outcome> ExperimentDesk::confirm(const search::RegionGroup& group, const Workload& workload,
                                        int phase, const Candidate& candidate,
                                        const Outcome& screened) {
  const store::ExperimentKey own =
      region_key(parts_.state, store::ExperimentKind::kConfirm, group, workload, candidate);
  const std::string what =
      fmt::format("phase {} {}: {}", phase, subject(group, workload), own.candidate.short_hex());
  const std::optional<StepRecord> record = TRY(parts_.journal.recorded("confirm", what));
  std::optional<Outcome> outcome;
  if (record && !record->infra.empty()) {
    outcome = infrastructure_outcome(own, "as recorded");
  } else {
    outcome = TRY(parts_.journal.find_outcome(phase, own));
    if (record && !outcome) {
      return lost_outcome(what);
    }
  }
  StepRecord made;
  if (!outcome) {
    const std::vector<ExperimentId> ids = TRY(parts_.journal.start(phase, {own}));
    ConfirmJob job{screen_job(group, workload), screened};
    job.subject.candidates.push_back(candidate);
    job.subject.experiments.push_back(ids.front());
    job.screened.experiment = ids.front();
    const JobRun run =
        TRY(parts_.jobs.run(std::move(job), handlers("confirm", phase, subject(group, workload))));
    const auto* confirmed = run.result ? std::get_if<Outcome>(&*run.result) : nullptr;
    if (confirmed == nullptr) {
      return Error{ErrorCode::kInternal, "a confirmation gave no outcome"};
    }
    outcome = checked(*confirmed);
    outcome->experiment = ids.front();
    outcome->causal_label = screened.causal_label;
    made.seconds = run.seconds;
    TRY(parts_.journal.finish(ids.front(), *outcome));
  }
  if (is_infrastructure(outcome->verdict.klass)) {
    made.infra.push_back(0);
  }
  made.done = 1;
  if (!record) {
    TRY(parts_.journal.record("confirm", what, made));
  }
  const double spent = record ? record->seconds : made.seconds;
  charge("confirm", spent, record.has_value());
  if (spent > 0) {
    parts_.state.confirm_cost.observe(spent);
  }
  count(outcome->verdict);
  return *outcome;
}

Result<IntegrationResult> ExperimentDesk::integrate(const std::string& kind, int phase,
                                                    const ModelVersion& before,
                                                    const ModelVersion& after) {
  CampaignState& state = parts_.state;
  const store::ExperimentKey own = model_key(
      state,
      kind == "end_to_end" ? store::ExperimentKind::kEndToEnd : store::ExperimentKind::kIntegration,
      before, after);
  const std::string what = fmt::format("phase {}: {} against {}", phase, own.candidate.short_hex(),
                                       own.incumbent.short_hex());
  const std::optional<StepRecord> record = TRY(parts_.journal.recorded(kind, what));
  std::optional<IntegrationResult> result;
  if (!record || record->infra.empty()) {
    result = TRY(parts_.journal.find_integration(phase, own));
    if (record && !result) {
      return lost_outcome(what);
    }
  } else {
    result = IntegrationResult{};
    result->verdict = {VerdictClass::kInfra, "environment", "as recorded"};
  }
  StepRecord made;
  if (!result) {
    const std::vector<ExperimentId> ids = TRY(parts_.journal.start(phase, {own}));
    IntegrateJob job;
    job.kind = kind;
    job.before = before;
    job.after = after;
    job.workloads = state.spec.workloads;
    const JobRun run = TRY(parts_.jobs.run(std::move(job), handlers(kind, phase, "whole model")));
    const auto* done = run.result ? std::get_if<IntegrationResult>(&*run.result) : nullptr;
    if (done == nullptr) {
      return Error{ErrorCode::kInternal, "an integration gave no result"};
    }
    result = *done;
    made.seconds = run.seconds;
    TRY(parts_.journal.finish(ids.front(), *result));
  }
  if (is_infrastructure(result->verdict.klass)) {
    made.infra.push_back(0);
  }
  made.done = 1;
  if (!record) {
    TRY(parts_.journal.record(kind, what, made));
  }
  const double spent = record ? record->seconds : made.seconds;
  charge("integrate", spent, record.has_value());
  if (spent > 0) {
    state.integrate_cost.observe(spent);
  }
  count(result->verdict);
  return *result;
}

}  // namespace fusefarm::coordinator
