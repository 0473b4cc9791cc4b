#include "coordinator/report.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verify/verdict_rule.h"

namespace fusefarm::coordinator {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

// A log speed-up as a ratio: above 1 is faster. Open ends are null.
json speedup(const Interval& interval) {
  return {{"estimate", number(std::exp(interval.estimate))},
          {"lo", std::isfinite(interval.lo) ? number(std::exp(interval.lo)) : json(nullptr)},
          {"hi", std::isfinite(interval.hi) ? number(std::exp(interval.hi)) : json(nullptr)}};
}

// A busy host may leave no sample that counts; then there is no interval to report.
bool timed(const WorkloadIntegration& one) {
  return one.before_seconds > 0 && one.after_seconds > 0;
}

bool timed(const IntegrationResult& result) {
  return !result.workloads.empty() &&
         std::all_of(result.workloads.begin(), result.workloads.end(),
                     [](const WorkloadIntegration& one) { return timed(one); });
}

json integration_json(const IntegrationResult& result) {
  json workloads = json::array();
  for (const WorkloadIntegration& one : result.workloads) {
    workloads.push_back({{"workload", one.workload},
                         {"speedup", timed(one) ? speedup(one.time) : json(nullptr)},
                         {"before_seconds", one.before_seconds},
                         {"after_seconds", one.after_seconds},
                         {"values_ok", one.values_ok},
                         {"error_before", number(one.error_before)},
                         {"error_after", number(one.error_after)},
                         {"tokens_compared", one.tokens_compared},
                         {"token_flips", one.token_flips},
                         {"flips_unexcused", one.flips_unexcused}});
  }
  return {{"ok", result.ok},
          {"verdict", to_string(result.verdict.klass)},
          {"reason", result.verdict.reason},
          {"detail", result.verdict.detail},
          {"margin", result.margin},
          {"speedup", timed(result) ? speedup(result.combined) : json(nullptr)},
          {"workloads", std::move(workloads)}};
}

json end_to_end_json(const CampaignState& state) {
  if (!state.end_to_end) {
    return nullptr;
  }
  json result = integration_json(*state.end_to_end);
  result["compared"] = fmt::format("graph version {} against version {}",
                                   state.current.graph->version, state.original.graph->version);
  result["confirmed_by"] =
      "paired slots in random order, fresh sandboxed processes, the worker's clock alone;"
      " workloads weighted by their share of serving time";
  return result;
}

bool boundary_ok(const Outcome& outcome) {
  if (outcome.correctness.empty()) {
    return false;
  }
  for (const CorrectnessRecord& record : outcome.correctness) {
    if (!record.ok) {
      return false;
    }
  }
  return true;
}

double worst_over_bound(const Outcome& outcome) {
  double worst = 0;
  for (const CorrectnessRecord& record : outcome.correctness) {
    for (const BoundaryError& error : record.outputs) {
      worst = std::max(worst, error.worst_over_bound);
    }
  }
  return worst;
}

json rewrite_json(const RewriteRecord& rewrite) {
  const Outcome& outcome = rewrite.confirmation;
  json entry = {{"region", rewrite.region.hex()},
                {"pattern", rewrite.pattern},
                {"phase", rewrite.phase},
                {"contains", rewrite.contains},
                {"occurrences", rewrite.occurrences},
                {"workload", rewrite.workload},
                {"share", rewrite.share},
                {"candidate", outcome.candidate.hex()},
                {"origin", rewrite.candidate.origin},
                {"family", rewrite.candidate.family},
                {"schedule", rewrite.candidate.schedule},
                {"isolation", outcome.isolation},
                {"boundary",
                 {{"ok", boundary_ok(outcome)},
                  {"inputs_checked", outcome.correctness.size()},
                  {"worst_over_bound", number(worst_over_bound(outcome))}}},
                {"integration",
                 {{"ok", rewrite.integration.ok},
                  {"verdict", to_string(rewrite.integration.verdict.klass)},
                  {"margin", rewrite.integration.margin},
                  {"speedup", speedup(rewrite.integration.combined)}}},
                {"graph_version", rewrite.graph_version}};
  entry["confirmation"] = outcome.confirmation ? speedup(*outcome.confirmation) : json(nullptr);
  entry["screen"] = outcome.screen ? speedup(*outcome.screen) : json(nullptr);
  return entry;
}

json phase_json(const PhaseRecord& phase) {
  json cells = json::array();
  for (const CellRecord& cell : phase.cells) {
    cells.push_back({{"region", cell.region.hex()},
                     {"pattern", cell.pattern},
                     {"workload", cell.workload},
                     {"share", cell.share},
                     {"headroom", cell.headroom},
                     {"experiments", cell.experiments},
                     {"best_screen", number(std::exp(cell.best_screen))},
                     {"stopped", cell.stopped}});
  }
  return {{"phase", phase.phase},
          {"nodes_max", phase.nodes_max},
          {"regions_enumerated", phase.enumerated},
          {"regions_implementable", phase.implementable},
          {"region_classes", phase.groups},
          {"headroom", phase.headroom},
          {"committed", phase.committed},
          {"seconds", phase.seconds},
          {"searched", std::move(cells)}};
}

json baseline_json(const ProfileResult& profile) {
  json library = json::object();
  json timings = json::object();
  for (const GemmChoice& gemm : profile.gemms) {
    const std::string key =
        fmt::format("{}x{}x{} {}", gemm.rows, gemm.n, gemm.k, graph::to_string(gemm.dtype));
    library[key] = gemm.library;
    timings[key] = gemm.seconds;
  }
  json steps = json::object();
  for (const WorkloadProfile& workload : profile.workloads) {
    steps[workload.workload] = workload.step_seconds;
  }
  return {{"library", std::move(library)},
          {"gemm_seconds", std::move(timings)},
          {"step_seconds", std::move(steps)},
          {"blas_core", profile.blas_core},
          {"copy_bytes_per_second", profile.copy_bytes_per_second},
          {"flops_per_second", profile.flops_per_second}};
}

// Predicted end-to-end log speed-up: every committed region gains what its confirmation says.
double predicted_log_gain(const CampaignState& state) {
  const search::ProfileView before(state.profile);
  double after = 0, weights = 0;
  for (const Workload& workload : state.spec.workloads) {
    const double step = before.step_seconds(workload.name);
    if (step <= 0) {
      continue;
    }
    after += workload.weight * state.view.step_seconds(workload.name) / step;
    weights += workload.weight;
  }
  return weights > 0 && after > 0 ? -std::log(after / weights) : 0;
}

json workloads_json(const CampaignState& state) {
  json result = json::array();
  for (const Workload& workload : state.spec.workloads) {
    result.push_back({{"name", workload.name},
                      {"phase", to_string(workload.phase)},
                      {"batch", workload.batch},
                      {"context", workload.context},
                      {"tokens", workload.tokens},
                      {"weight", workload.weight}});
  }
  return result;
}

json environment_json(const CampaignState& state) {
  return {{"device", state.spec.device},
          {"device_class", state.profile.device_class},
          {"threads", state.threads},
          {"gpu", "absent: this campaign ran on CPU and no GPU was measured"},
          {"toolchain", state.profile.toolchain},
          {"isolation", state.profile.isolation}};
}

}  // namespace

std::string result_of(const CampaignState& state) {
  bool committed = false;
  for (const RewriteRecord& rewrite : state.rewrites) {
    committed = committed || rewrite.committed;
  }
  const bool faster =
      state.end_to_end && timed(*state.end_to_end) && state.end_to_end->combined.lo > 0;
  return committed && faster ? "improved" : "no_gain";
}

std::string report_json(const CampaignState& state, const ReportFacts& facts) {
  json rewrites = json::array();
  json rolled_back = json::array();
  for (const RewriteRecord& rewrite : state.rewrites) {
    (rewrite.committed ? rewrites : rolled_back).push_back(rewrite_json(rewrite));
  }
  json phases = json::array();
  for (const PhaseRecord& phase : state.phases) {
    phases.push_back(phase_json(phase));
  }
  const double predicted = predicted_log_gain(state);
  json report = {
      {"format", kReportFormat},
      {"campaign", state.spec.name},
      {"result", result_of(state)},
      {"model",
       {{"config", state.spec.model_config},
        {"layers", state.spec.layers},
        {"dtype", graph::to_string(state.spec.dtype)},
        {"nodes", state.original.graph->nodes().size()},
        {"nodes_after", state.current.graph->nodes().size()},
        {"graph_version", state.current.graph->version}}},
      {"workloads", workloads_json(state)},
      {"end_to_end", end_to_end_json(state)},
      {"predicted_speedup", number(std::exp(predicted))},
      {"phases", std::move(phases)},
      {"rewrites", std::move(rewrites)},
      {"rolled_back", std::move(rolled_back)},
      {"verdicts", state.verdicts},
      {"experiments",
       {{"total", state.experiments}, {"executed", facts.executed}, {"reused", facts.reused}}},
      {"wall_seconds", facts.wall_seconds},
      {"budget_seconds", state.spec.search.budget_seconds},
      {"peak_memory_bytes", facts.peak_memory_bytes},
      {"baseline", baseline_json(state.profile)},
      {"environment", environment_json(state)},
      {"seed", state.spec.search.seed},
      {"gate",
       {{"min_gain", state.spec.gate.min_gain}, {"false_accept", state.spec.gate.false_accept}}},
      {"versions",
       {{"report", kReportFormat},
        {"verdict_rules", verify::kVerdictRuleVersion},
        {"region_signature", graph::kSignatureVersion},
        {"launch_plan", kLaunchPlanVersion}}}};
  const bool comparable = predicted > 1e-6 && state.end_to_end && timed(*state.end_to_end);
  report["realised_over_predicted"] =
      comparable ? number(state.end_to_end->combined.estimate / predicted) : json(nullptr);
  return report.dump(2) + "\n";
}

Result<std::string> report_as_reused(const std::string& report) {
  json value = json::parse(report, nullptr, false);
  const bool readable = value.is_object() && value.contains("experiments") &&
                        value["experiments"].is_object() && value["experiments"].contains("total");
  if (!readable) {
    return Error{ErrorCode::kIntegrity, "the stored report of this campaign is not readable"};
  }
  value["experiments"]["executed"] = 0;
  value["experiments"]["reused"] = value["experiments"]["total"];
  return value.dump(2) + "\n";
}

}  // namespace fusefarm::coordinator
