// A rewritten model against its predecessor: values against the oracle, then paired time.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "verify/statistics.h"
#include "verify/verdict_rule.h"
#include "worker/blocks.h"
#include "worker/model_bench.h"
#include "worker/session.h"

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

constexpr Duration kModelSlot = 25ms;
constexpr Duration kModelDeadline = 60s;
constexpr int kModelQuadsPerBlock = 6;

Verdict verdict(VerdictClass klass, std::string reason, std::string detail) {
  return {klass, std::move(reason), std::move(detail), verify::kVerdictRuleVersion};
}

// The fused regions that a version really runs under a workload, with what runs them. Two versions
// with the same ones execute the same steps there: nothing to time.
std::multiset<std::pair<Digest, Digest>> fused_under(const ModelVersion& version,
                                                     const std::string& workload) {
  std::multiset<std::pair<Digest, Digest>> fused;
  for (const graph::Node& node : version.graph->nodes()) {
    if (node.op != graph::OpKind::kRegion) {
      continue;
    }
    const Result<Digest> signature = Digest::from_hex(node.attrs.text("signature"));
    if (!signature.ok()) {
      continue;
    }
    const auto found = version.implementations.find({*signature, workload});
    if (found != version.implementations.end()) {
      fused.emplace(*signature, found->second.digest());
    }
  }
  return fused;
}

class Integration {
 public:
  Integration(Session& session, const IntegrateJob& job, const JobContext& context)
      : session_(session), job_(job), context_(context) {}

  Result<IntegrationResult> run() {
    result_.margin = job_.margin;
    result_.verdict = verdict(VerdictClass::kNoGain, "", "");
    result_.ok = true;
    std::vector<verify::WeightedInterval> parts;
    for (const Workload& workload : job_.workloads) {
      context_.progress(job_.kind, workload.name);
      WorkloadIntegration one;
      one.workload = workload.name;
      TRY(integrate(workload, one));
      parts.push_back({workload.weight, one.time});
      result_.workloads.push_back(std::move(one));
      if (!result_.ok && job_.kind == "integration") {
        return std::move(result_);  // the rest could not save it
      }
    }
    result_.combined = verify::combine(parts);
    if (result_.ok && result_.combined.lo > 0) {
      result_.verdict = verdict(VerdictClass::kImproved, "", "");
    }
    return std::move(result_);
  }

 private:
  void fail(VerdictClass klass, std::string reason, std::string detail) {
    result_.ok = false;
    result_.verdict = verdict(klass, std::move(reason), std::move(detail));
  }

  Result<void> integrate(const Workload& workload, WorkloadIntegration& one) {
    const ModelBench bench =
        TRY(ModelBench::create(session_, {&job_.before, &job_.after}, workload, context_));
    TRY(check_values(bench, one));
    const bool unchanged = job_.kind == "integration" && fused_under(job_.before, workload.name) ==
                                                             fused_under(job_.after, workload.name);
    if (!result_.ok || unchanged) {
      return {};
    }
    return time(bench, workload, one);
  }

  // One launch of each version from the same image, in a set of its own.
  Result<void> check_values(const ModelBench& bench, WorkloadIntegration& one) {
    TestBed& bed = bench.bed();
    int set = 0;
    for (const ModelVersion* version : {&job_.before, &job_.after}) {
      const bool before = version == &job_.before;
      std::optional<Verdict> fault;
      auto arm = TRY(bench.start(*version, fault));
      bed.refill_set(set, 0);
      if (arm) {
        (void)arm->poison(1, kModelDeadline);
        fault = arm->launch(static_cast<std::uint32_t>(set), 1, kModelDeadline).fault;
        arm->stop();
      }
      if (fault && before) {
        return Error{ErrorCode::kUnavailable, "the model before the rewrite: " + fault->detail};
      }
      if (fault) {
        fail(VerdictClass::kIntegrationFail, "diverge", "the rewritten model: " + fault->detail);
        return {};
      }
      ++set;
    }
    const childlink::ModelCompared compared = TRY(bed.compare_model(0, 1));
    one.values_ok = compared.values_ok;
    one.error_before = compared.error_before;
    one.error_after = compared.error_after;
    one.tokens_compared = compared.tokens_compared;
    one.token_flips = compared.token_flips;
    one.flips_unexcused = compared.flips_unexcused;
    if (!compared.values_ok) {
      fail(VerdictClass::kIntegrationFail, "diverge", compared.detail);
    } else if (!compared.tokens_ok) {
      fail(VerdictClass::kIntegrationFail, "tokens", compared.detail);
    }
    return {};
  }

  Result<void> time(const ModelBench& bench, const Workload& workload, WorkloadIntegration& one) {
    BlockPlan plan;
    plan.stage = job_.kind;
    plan.policy = job_.kind == "integration" ? verify::non_inferiority_policy(job_.margin)
                                             : verify::superiority_policy();
    plan.quads_per_block = kModelQuadsPerBlock;
    plan.seed = session_.options().seed;
    plan.key =
        digest_of(workload.name).prefix() + static_cast<std::uint64_t>(job_.after.graph->version);
    plan.options.timed_entries = kModelEntries;
    plan.options.compare_outputs = false;  // values were compared layer by layer
    plan.options.deadline = kModelDeadline;
    plan.slot = kModelSlot;
    plan.start_incumbent = [&]() -> Result<std::optional<ArmProcess>> {
      std::optional<Verdict> fault;
      auto arm = TRY(bench.start(job_.before, fault));
      if (!arm) {
        return Error{ErrorCode::kUnavailable, "the model before the rewrite: " + fault->detail};
      }
      return arm;
    };
    plan.start_candidate = [&](std::optional<Verdict>& fault) {
      return bench.start(job_.after, fault);
    };
    BlocksEnd end = TRY(run_blocks(plan, bench.bed(), context_));
    one.time = end.last.decision.interval;
    one.before_seconds = verify::median_launch_seconds(end.measurement, Arm::kIncumbent);
    one.after_seconds = verify::median_launch_seconds(end.measurement, Arm::kCandidate);
    one.measurement = std::move(end.measurement);
    conclude(end.last);
    return {};
  }

  void conclude(const PairEnd& end) {
    const verify::GateDecision& decision = end.decision;
    if (end.fault) {
      fail(VerdictClass::kIntegrationFail, "diverge", "the rewritten model: " + end.fault->detail);
      return;
    }
    if (decision.host_busy) {
      fail(VerdictClass::kInfra, "cotenant", decision.why);
      return;
    }
    if (job_.kind != "integration") {
      return;  // reported, whatever it is
    }
    if (decision.step == verify::GateStep::kNoGain) {
      fail(VerdictClass::kIntegrationFail, "regress", decision.why);
    } else if (decision.step != verify::GateStep::kPass) {
      fail(VerdictClass::kNoGain, "undecided", decision.why);
    }
  }

  Session& session_;
  const IntegrateJob& job_;
  const JobContext& context_;
  IntegrationResult result_;
};

}  // namespace

Result<IntegrationResult> run_integration(Session& session, const IntegrateJob& job,
                                          const JobContext& context) {
  return Integration(session, job, context).run();
}

}  // namespace fusefarm::worker
