#include "tests/fakes/fake_worker.h"

#include <cmath>
#include <utility>

#include "base/random.h"
#include "graph/cost.h"
#include "graph/region.h"
#include "verify/statistics.h"
#include "verify/verdict_rule.h"

namespace fusefarm::fakes {
namespace {

constexpr double kBytesPerSecond = 20e9;
constexpr double kFlopsPerSecond = 200e9;
constexpr double kNodeOverhead = 5e-6;
constexpr double kInefficiency = 1.5;  // of the baseline over the roofs

double node_seconds(const graph::Graph& graph, const graph::Node& node,
                    const graph::Bindings& bindings) {
  if (graph::is_view(node.op)) {
    return 0;
  }
  const graph::Cost cost = graph::node_cost(graph, node, bindings);
  return kNodeOverhead +
         kInefficiency * std::max(static_cast<double>(cost.bytes()) / kBytesPerSecond,
                                  cost.flops / kFlopsPerSecond);
}

PairedMeasurement samples(const std::string& stage, double gain, double noise, int blocks,
                          int quads, Random random) {
  PairedMeasurement measurement;
  measurement.stage = stage;
  for (int b = 0; b < blocks; ++b) {
    Block block;
    block.incumbent_loaded_first = random.coin();
    for (int q = 0; q < quads; ++q) {
      Quad quad;
      const bool incumbent_first = random.coin();
      for (int s = 0; s < 4; ++s) {
        const bool outer = s == 0 || s == 3;
        const bool incumbent = outer == incumbent_first;
        const double log_time = (incumbent ? 0 : -gain) + noise * random.normal();
        quad.slots[s].arm = incumbent ? Arm::kIncumbent : Arm::kCandidate;
        quad.slots[s].nanoseconds = static_cast<std::int64_t>(30e6 * std::exp(log_time));
      }
      block.quads.push_back(quad);
    }
    measurement.blocks.push_back(std::move(block));
  }
  return measurement;
}

template <class T>
Result<JobResult> ended(T value) {
  JobResult result(std::in_place_type<T>, std::move(value));
  return result;
}

// Seconds of a graph under a workload, accepted regions at their true speed.
double graph_seconds(const graph::Graph& graph, const Workload& workload,
                     const ImplementationTable& table, const FakeWorld& world) {
  double sum = 0;
  for (const graph::Node& node : graph.nodes()) {
    if (node.op != graph::OpKind::kRegion) {
      sum += node_seconds(graph, node, workload.bindings());
      continue;
    }
    const Digest signature = Digest::from_hex(node.attrs.text("signature")).value_or(Digest{});
    const auto found = table.find({signature, workload.name});
    if (found == table.end()) {
      sum += graph_seconds(*node.body, workload, table, world);
    } else {
      sum += graph_seconds(graph::expand(*node.body), workload, {}, world) *
             std::exp(-world.gain(signature, workload, found->second));
    }
  }
  return sum;
}

}  // namespace

double hill_gain(const Digest& region, const Workload& workload, const Candidate& candidate) {
  const auto tile = candidate.schedule.find("tile");
  if (tile == candidate.schedule.end()) {
    return 0;
  }
  Random random = Random::keyed(7, "hill" + workload.name, region.prefix());
  const double height = 0.05 + 0.25 * random.uniform();
  const double center = 2 + 12 * random.uniform();
  return height - 0.015 * std::abs(static_cast<double>(tile->second) - center);
}

void FakeWorker::spend(double seconds) {
  if (clock_ != nullptr) {
    clock_->advance_seconds(seconds);
  }
}

Result<JobResult> FakeWorker::run(const Job& job, const std::function<void(TransportEvent)>& report,
                                  const std::function<bool()>& cancelled, LeaseId lease) {
  ++jobs_;
  if (const auto* one = std::get_if<ProfileJob>(&job)) {
    return profile(*one);
  }
  if (const auto* one = std::get_if<ScreenJob>(&job)) {
    return screen(*one, report, cancelled, lease);
  }
  if (const auto* one = std::get_if<ConfirmJob>(&job)) {
    return confirm(*one);
  }
  return integrate(std::get<IntegrateJob>(job));
}

Result<JobResult> FakeWorker::profile(const ProfileJob& job) {
  ProfileResult result;
  for (const Workload& workload : job.workloads) {
    WorkloadProfile entry;
    entry.workload = workload.name;
    for (const graph::Node& node : job.model.graph->nodes()) {
      const double time = node_seconds(*job.model.graph, node, workload.bindings());
      entry.nodes.push_back({node.id, time});
      entry.step_seconds += time;
    }
    result.workloads.push_back(std::move(entry));
  }
  result.gemms.push_back({8, 64, 64, graph::DType::kBF16, "packed", {{"packed", 1e-6}}});
  result.copy_bytes_per_second = kBytesPerSecond;
  result.flops_per_second = kFlopsPerSecond;
  result.device_class = "fake";
  result.toolchain = "none";
  result.isolation = "none";
  spend(world_.profile_seconds);
  return ended(std::move(result));
}

double FakeWorker::relative_gain(const ScreenJob& job, const Candidate& candidate) const {
  const double plain = graph_seconds(*job.region, job.workload, {}, world_);
  const double incumbent = graph_seconds(*job.incumbent, job.workload, job.implementations, world_);
  return world_.gain(job.signature, job.workload, candidate) - std::log(plain / incumbent);
}

Outcome FakeWorker::new_outcome(const ScreenJob& job, const Candidate& candidate,
                                ExperimentId id) const {
  Outcome outcome;
  outcome.experiment = id;
  outcome.region = job.signature;
  outcome.workload = job.workload.name;
  outcome.candidate = candidate.digest();
  outcome.incumbent = job.incumbent_digest;
  outcome.family = candidate.family;
  outcome.device_class = "fake";
  outcome.toolchain = "none";
  outcome.isolation = "none";
  return outcome;
}

Result<JobResult> FakeWorker::screen(const ScreenJob& job,
                                     const std::function<void(TransportEvent)>& report,
                                     const std::function<bool()>& cancelled, LeaseId lease) {
  const verify::VerdictPolicy policy = verify::verdict_policy({}, 0);
  ScreenResult result;
  for (std::size_t i = 0; i < job.candidates.size(); ++i) {
    if (cancelled()) {
      return Error{ErrorCode::kCancelled, "cancelled"};
    }
    const Candidate& candidate = job.candidates[i];
    Outcome outcome = new_outcome(job, candidate, job.experiments[i]);
    ++runs_["screen " + outcome.candidate.hex() + job.workload.name];
    ++measured_;
    spend(world_.screen_seconds);
    outcome.device_seconds = world_.screen_seconds;
    const std::optional<Verdict> defect =
        world_.defect ? world_.defect(candidate) : std::optional<Verdict>{};
    if (defect) {
      outcome.verdict = *defect;
      outcome.correctness.push_back({false, "normal", 1, {}, defect->reason, defect->detail});
    } else {
      outcome.correctness.push_back({true, "normal", 1, {}, "", ""});
      outcome.measurements.push_back(
          samples("screen", relative_gain(job, candidate), world_.noise, 1, 20,
                  Random::keyed(3, "screen" + job.workload.name, outcome.candidate.prefix())));
      outcome.screen = verify::decide(outcome.measurements.back(), policy.screen).interval;
      outcome.verdict = verify::judge_outcome(outcome, policy);
    }
    report({lease, outcome});
    result.outcomes.push_back(std::move(outcome));
  }
  return ended(std::move(result));
}

Result<JobResult> FakeWorker::confirm(const ConfirmJob& job) {
  const verify::VerdictPolicy policy = verify::verdict_policy({}, 0);
  Outcome outcome = job.screened;
  const Candidate& candidate = job.subject.candidates.front();
  ++runs_["confirm " + outcome.candidate.hex() + job.subject.workload.name];
  ++measured_;
  outcome.measurements.push_back(
      samples("confirm", relative_gain(job.subject, candidate), world_.noise, 4, 10,
              Random::keyed(3, "confirm" + job.subject.workload.name, outcome.candidate.prefix())));
  outcome.confirmation = verify::decide(outcome.measurements.back(), policy.confirm).interval;
  outcome.verdict = verify::judge_outcome(outcome, policy);
  spend(world_.confirm_seconds);
  outcome.device_seconds += world_.confirm_seconds;
  return ended(std::move(outcome));
}

Result<JobResult> FakeWorker::integrate(const IntegrateJob& job) {
  ++measured_;
  spend(world_.integrate_seconds);
  IntegrationResult result;
  result.margin = job.margin;
  result.ok = true;
  for (const auto& [key, candidate] : job.after.implementations) {
    if (world_.breaks_integration.contains(key.first)) {
      result.ok = false;
    }
  }
  std::vector<verify::WeightedInterval> parts;
  for (const Workload& workload : job.workloads) {
    WorkloadIntegration one;
    one.workload = workload.name;
    one.values_ok = result.ok;
    one.before_seconds =
        graph_seconds(*job.before.graph, workload, job.before.implementations, world_);
    one.after_seconds =
        graph_seconds(*job.after.graph, workload, job.after.implementations, world_);
    const double gain = std::log(one.before_seconds / one.after_seconds);
    one.measurement = samples(job.kind, gain, world_.noise, 4, 8,
                              Random::keyed(3, job.kind + workload.name,
                                            static_cast<std::uint64_t>(job.after.graph->version)));
    one.time = verify::median_interval(verify::log_ratios(one.measurement), 0.95);
    parts.push_back({workload.weight, one.time});
    result.workloads.push_back(std::move(one));
  }
  result.combined = verify::combine(parts);
  if (!result.ok) {
    result.verdict = {VerdictClass::kIntegrationFail, "diverge", "made to fail", 1};
  } else if (result.combined.lo > 0) {
    result.verdict = {VerdictClass::kImproved, "", "", 1};
  } else {
    result.verdict = {VerdictClass::kNoGain, "", "", 1};
  }
  return ended(std::move(result));
}

}  // namespace fusefarm::fakes
