#include "coordinator/campaign.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/log.h"
#include "coordinator/campaign_state.h"
#include "coordinator/experiment_desk.h"
#include "coordinator/job_runner.h"
#include "coordinator/model_loader.h"
#include "coordinator/phase_commit.h"
#include "coordinator/phase_search.h"
#include "coordinator/report.h"

namespace fusefarm::coordinator {
namespace {

constexpr double kPhaseSecondsMin = 10;  // with less left, no phase is begun
constexpr double kHeadroomMin = 0.03;    // of serving time: less is not worth a phase

class Campaign {
 public:
  Campaign(Parts parts, const CampaignDeps& deps, TimePoint start)
      : parts_(parts), deps_(deps), desk_(parts), start_(start) {}

  Result<CampaignEnd> run() {
    TRY(save_version_0());
    TRY(profile());
    for (int phase = 1; phase <= parts_.state.spec.search.phases; ++phase) {
      const bool more = TRY(run_phase(phase));
      if (!more) {
        break;
      }
    }
    return finish();
  }

 private:
  CampaignState& state() { return parts_.state; }

  Result<void> save_version_0() {
    store::GraphVersionRow row;
    row.campaign = parts_.journal.campaign().id;
    row.hash = store::graph_hash(*state().original.graph);
    row.version = state().original.graph->version;
    row.provenance = R"({"imported":true})";
    TRY(parts_.journal.store().save_graph_version(row, *state().original.graph));
    return parts_.journal.commit();
  }

  Result<void> profile() {
    const std::string what = fmt::format("{} workloads", state().spec.workloads.size());
    const std::optional<StepRecord> record = TRY(parts_.journal.recorded("profile", what));
    std::optional<ProfileResult> known = TRY(parts_.journal.profile());
    if (record && !known) {
      return Error{ErrorCode::kIntegrity,
                   "the store has no profile of a campaign that records one"};
    }
    if (known && !deps_.device_class.empty() && known->device_class != deps_.device_class) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("campaign '{}' was begun on {}, this host is {}: resume it there, or"
                               " use another store.path",
                               state().spec.name, known->device_class, deps_.device_class)};
    }
    StepRecord made;
    if (!known) {
      desk_.report("profile", 0, "profiling the unfused baseline", true);
      JobRunner::Handlers handlers;
      handlers.on_progress = [this](const JobProgress& progress) {
        desk_.report("profile", 0, progress.stage + " " + progress.detail, false);
      };
      const JobRun run =
          TRY(parts_.jobs.run(ProfileJob{state().original, state().spec.workloads}, handlers));
      const auto* result = run.result ? std::get_if<ProfileResult>(&*run.result) : nullptr;
      if (result == nullptr) {
        return Error{ErrorCode::kInternal, "a profile job gave no profile"};
      }
      known = *result;
      made.seconds = run.seconds;
      TRY(parts_.journal.save_profile(*known));
    }
    if (!record) {
      TRY(parts_.journal.record("profile", what, made));
    }
    const double spent = record ? record->seconds : made.seconds;
    state().ledger.charge("profile", spent);
    if (record) {
      state().recorded_seconds += spent;
    }
    state().profile = std::move(*known);
    state().view = search::ProfileView(state().profile);
    codegen::Roofs roofs;
    roofs.bytes_per_second = state().view.roofs().bytes_per_second;
    roofs.cache_bytes_per_second = std::max(roofs.cache_bytes_per_second, roofs.bytes_per_second);
    roofs.flops_per_second = state().view.roofs().flops_per_second;
    state().proposers = TRY(deps_.make_proposers(state().spec.search.proposers, roofs));
    return {};
  }

  Result<search::PhasePlan> plan(int phase) {
    const std::vector<Proposer*> proposers = state().proposers.borrowed();
    search::PhaseInputs inputs;
    inputs.phase = phase;
    inputs.model = state().current.graph.get();
    inputs.profile = &state().view;
    inputs.posteriors = &state().posteriors;
    inputs.campaign = &state().spec;
    inputs.proposers = &proposers;
    inputs.may_contain = state().proposers.may_contain;
    inputs.implementations = &state().current.implementations;
    inputs.threads = state().threads;
    inputs.settled = &state().settled;
    return search::plan_phase(inputs);
  }

  // False: no further phase.
  Result<bool> run_phase(int phase) {
    const double spent_before = state().ledger.spent();
    const search::PhasePlan chosen = TRY(plan(phase));
    std::vector<std::string> selected;
    for (const search::PhaseRegion& region : chosen.regions) {
      selected.push_back(region.group.signature.short_hex() + (region.explored ? "?" : ""));
      TRY(parts_.journal.store().save_region(region.group.signature, *region.group.region,
                                             region.group.pattern));
    }
    TRY(parts_.journal.decide(
        "phase", fmt::format("{}: of {} regions in {} classes: {}", phase, chosen.implementable,
                             chosen.groups, fmt::join(selected, " "))));
    desk_.report("select", phase,
                 fmt::format("phase {}: {} regions enumerated, {} classes can be implemented, {}"
                             " selected",
                             phase, chosen.enumerated, chosen.groups, chosen.regions.size()),
                 true);
    PhaseRecord record;
    record.phase = phase;
    record.nodes_max = chosen.nodes_max;
    record.enumerated = chosen.enumerated;
    record.implementable = chosen.implementable;
    record.groups = chosen.groups;
    record.headroom = chosen.headroom;
    std::string stop;
    if (chosen.regions.empty()) {
      stop = "nothing to search";
    } else if (chosen.headroom < kHeadroomMin) {
      stop = "less than 3 % headroom";
    }
    if (stop.empty()) {
      std::vector<Confirmed> confirmed = TRY(PhaseSearch(parts_, chosen, phase).run(record));
      record.committed = TRY(PhaseCommit(parts_, chosen, phase).run(std::move(confirmed)));
      if (record.committed == 0) {
        stop = "nothing committed";
      }
      state().ledger.set_reserve(final_reserve(state()));
      if (!state().ledger.affords(kPhaseSecondsMin)) {
        stop = "budget";
      }
    }
    record.seconds = state().ledger.spent() - spent_before;
    state().phases.push_back(std::move(record));
    if (stop.empty()) {
      return true;
    }
    TRY(parts_.journal.decide("stop", fmt::format("after phase {}: {}", phase, stop)));
    return false;
  }

  Result<CampaignEnd> finish() {
    desk_.report("end_to_end", 0, "timing the final graph against version 0", true);
    state().end_to_end = TRY(desk_.integrate("end_to_end", 0, state().original, state().current));
    state().ledger.set_reserve(0);
    if (is_infrastructure(state().end_to_end->verdict.klass) &&
        state().ledger.affords(state().integrate_cost.seconds())) {
      state().end_to_end = TRY(desk_.integrate("end_to_end", 0, state().original, state().current));
    }
    const std::optional<StepRecord> record = TRY(parts_.journal.recorded("finish", "report"));
    StepRecord made;
    made.seconds = state().recorded_seconds + seconds(deps_.clock.now() - start_);
    if (!record) {
      TRY(parts_.journal.record("finish", "report", made));
    }
    ReportFacts facts;
    facts.wall_seconds = record ? record->seconds : made.seconds;
    facts.peak_memory_bytes = deps_.peak_memory_bytes();
    facts.executed = parts_.journal.executed();
    facts.reused = parts_.journal.reused();
    CampaignEnd end;
    end.result = result_of(state());
    end.report = report_json(state(), facts);
    TRY(parts_.journal.end(store::CampaignState::kFinished, end.result, end.report));
    desk_.report("done", 0, "result: " + end.result, true);
    return end;
  }

  Parts parts_;
  const CampaignDeps& deps_;
  ExperimentDesk desk_;
  TimePoint start_;
};

}  // namespace

Result<CampaignEnd> run_campaign(const CampaignSpec& spec, CampaignDeps deps) {
  FUSEFARM_CHECK(spec.threads > 0, "threads must be resolved before a campaign runs");
  const TimePoint start = deps.clock.now();
  const LoadedModel model = TRY(load_model(spec));
  const Digest hash = campaign_hash(spec, model.config_digest);
  Journal journal = TRY(Journal::open(deps.store, spec, hash, deps.after_write));
  if (journal.campaign().state == store::CampaignState::kFinished) {
    const store::CampaignRow& row = journal.campaign();
    return CampaignEnd{row.result, TRY(report_as_reused(row.report))};
  }
  JobRunner jobs(deps.transport, deps.clock, deps.stop_requested);
  CampaignState state(spec, model.graph, spec.threads);
  Campaign campaign(Parts{state, journal, jobs, deps.progress}, deps, start);
  Result<CampaignEnd> end = campaign.run();
  if (!end.ok()) {
    const bool stopped = end.error().code == ErrorCode::kCancelled;
    const Result<void> saved = journal.end(
        stopped ? store::CampaignState::kInterrupted : store::CampaignState::kFailed, "", "");
    if (!saved.ok()) {
      logger("coordinator").warn("state_not_saved error=\"{}\"", saved.error().message);
    }
  }
  return end;
}

}  // namespace fusefarm::coordinator
