// Superiority in fresh processes: every block has a new pair of executors in random load order.
#include <optional>
#include <utility>

#include "verify/verdict_rule.h"
#include "worker/blocks.h"
#include "worker/outcome_parts.h"
#include "worker/region_bench.h"
#include "worker/session.h"

namespace fusefarm::worker {

Result<Outcome> run_confirm(Session& session, const ConfirmJob& job, const JobContext& context) {
  const ScreenJob& subject = job.subject;
  if (subject.candidates.size() != 1) {
    return Error{ErrorCode::kInvalidArgument, "a confirmation has exactly one candidate"};
  }
  const Candidate& candidate = subject.candidates.front();
  auto bench = TRY(RegionBench::create(session, subject, context));
  TRY(session.builds().build({&candidate}, *context.cancelled));
  context.progress("confirm", candidate.family);
  Outcome outcome = job.screened;
  outcome.verdict = Verdict{};
  std::erase_if(outcome.measurements, [](const auto& m) { return m.stage == "confirm"; });
  verify::VerdictPolicy policy =
      verify::verdict_policy(session.options().gate, bench.floor_seconds());

  BlockPlan plan;
  plan.stage = "confirm";
  plan.policy = policy.confirm;
  plan.quads_per_block = 8;
  plan.seed = session.options().seed;
  plan.key = outcome.candidate.prefix() ^ outcome.region.prefix();
  plan.start_incumbent = [&]() -> Result<std::optional<ArmProcess>> {
    return std::optional<ArmProcess>(TRY(bench.start_incumbent()));
  };
  plan.start_candidate = [&](std::optional<Verdict>& fault) {
    return bench.start_candidate(candidate, fault);
  };
  plan.options.timed_entries = bench.timed_entries();
  plan.options.deadline = kSlotDeadline;
  plan.slot = kConfirmSlot;
  BlocksEnd end = TRY(run_blocks(plan, bench.bed(), context));
  add_measurement(std::move(end.measurement), end.last, outcome);
  outcome.confirmation = end.last.decision.interval;
  if (outcome.verdict.klass == VerdictClass::kInconclusive) {
    policy.floor_seconds = trusted_floor(outcome, policy.floor_seconds);
    outcome.verdict = verify::judge_outcome(outcome, policy);
  }
  return outcome;
}

}  // namespace fusefarm::worker
