#include "records/job_json.h"
#include "records/outcome_json.h"
#include "store/database.h"
#include "store/encoding.h"
#include "store/history.h"

namespace fusefarm::store {
namespace {

// The columns that experiment_row() reads. A reused row shows what its source found.
#define FUSEFARM_EXPERIMENT_COLUMNS                                                             \
  "SELECT e.id, e.campaign, e.phase, e.kind, e.state, e.region, e.candidate, e.incumbent,"      \
  " e.workload, coalesce(k.family, ''), coalesce(k.origin, ''), f.verdict, f.reason, f.detail," \
  " f.causal_label, f.screen_estimate, f.screen_lo, f.screen_hi, f.confirm_estimate,"           \
  " f.confirm_lo, f.confirm_hi, e.started_ms, e.ended_ms"                                       \
  " FROM experiment e JOIN experiment f ON f.id = coalesce(e.source, e.id)"                     \
  " LEFT JOIN candidate k ON k.digest = e.candidate"

std::optional<Interval> interval_at(const Statement& row, int column) {
  if (row.is_null(column)) {
    return std::nullopt;
  }
  return Interval{row.real(column), row.real(column + 1), row.real(column + 2)};
}

ExperimentRow experiment_row(const Statement& row) {
  ExperimentRow out;
  out.id = id_of<ExperimentTag>(row.integer(0));
  out.campaign = id_of<CampaignTag>(row.integer(1));
  out.phase = static_cast<int>(row.integer(2));
  out.kind = experiment_kind_from(row.text(3)).value_or(ExperimentKind::kScreen);
  out.state = experiment_state_from(row.text(4)).value_or(ExperimentState::kAbandoned);
  out.region = row.digest(5);
  out.candidate = row.digest(6);
  out.incumbent = row.digest(7);
  out.workload = row.text(8);
  out.family = row.text(9);
  out.origin = row.text(10);
  out.verdict = row.text(11);
  out.reason = row.text(12);
  out.detail = row.text(13);
  out.causal_label = row.text(14);
  out.screen = interval_at(row, 15);
  out.confirmation = interval_at(row, 18);
  out.started_ms = row.integer(21);
  out.ended_ms = row.integer(22);
  return out;
}

struct FoundRow {
  ExperimentId experiment;
  CampaignId campaign;
  std::string result;
};

Result<std::optional<FoundRow>> find(Database& database, const ExperimentKey& key) {
  Statement select = TRY(database.prepare(
      "SELECT id, campaign, result FROM experiment WHERE candidate = ? AND incumbent = ?"
      " AND kind = ? AND state = 'done' AND region = ? AND shape = ? AND device_class = ?"
      " AND toolchain = ? AND protocol = ? AND infrastructure = 0 ORDER BY id DESC LIMIT 1"));
  select.bind(key.candidate)
      .bind(key.incumbent)
      .bind(to_string(key.kind))
      .bind(key.region)
      .bind(shape_key(key.workload))
      .bind(key.device_class)
      .bind(key.toolchain)
      .bind(key.protocol);
  if (!TRY(select.step())) {
    return std::optional<FoundRow>();
  }
  return std::optional<FoundRow>({id_of<ExperimentTag>(select.integer(0)),
                                  id_of<CampaignTag>(select.integer(1)), select.text(2)});
}

std::string named(ExperimentId id) { return "experiment " + std::to_string(id.value); }

Result<Outcome> whole_outcome(Database& database, ExperimentId id, const std::string& json) {
  Result<Outcome> outcome = outcome_from_json(json);
  if (!outcome.ok()) {
    return damaged_row(database, named(id), outcome.error());
  }
  outcome->experiment = id;
  outcome->measurements = TRY(select_samples(database, id));
  return outcome;
}

Result<IntegrationResult> whole_integration(Database& database, ExperimentId id,
                                            const std::string& json) {
  Result<IntegrationResult> result = integration_result_from_json(json);
  if (!result.ok()) {
    return damaged_row(database, named(id), result.error());
  }
  std::vector<PairedMeasurement> samples = TRY(select_samples(database, id));
  if (samples.size() != result->workloads.size()) {
    return damaged_row(database, named(id), {ErrorCode::kIntegrity, "raw samples are missing"});
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    result->workloads[i].measurement = std::move(samples[i]);
  }
  return result;
}

bool is_whole_model(ExperimentKind kind) {
  return kind == ExperimentKind::kIntegration || kind == ExperimentKind::kEndToEnd;
}

// The result of a finished experiment of the wanted sort, of its source when it was reused.
Result<std::optional<FoundRow>> finished(Database& database, ExperimentId id, bool whole_model) {
  Statement select =
      TRY(database.prepare("SELECT f.id, f.campaign, f.kind, f.result FROM experiment e"
                           " JOIN experiment f ON f.id = coalesce(e.source, e.id)"
                           " WHERE e.id = ? AND f.state = 'done' AND f.result <> ''"));
  select.bind(number_of(id.value));
  if (!TRY(select.step())) {
    return std::optional<FoundRow>();
  }
  const std::optional<ExperimentKind> kind = experiment_kind_from(select.text(2));
  if (!kind || is_whole_model(*kind) != whole_model) {
    return std::optional<FoundRow>();
  }
  return std::optional<FoundRow>({id_of<ExperimentTag>(select.integer(0)),
                                  id_of<CampaignTag>(select.integer(1)), select.text(3)});
}

}  // namespace

Result<std::optional<History::FoundOutcome>> History::find_outcome(const ExperimentKey& key) const {
  const std::optional<FoundRow> row = TRY(find(*database_, key));
  if (!row) {
    return std::optional<FoundOutcome>();
  }
  Outcome outcome = TRY(whole_outcome(*database_, row->experiment, row->result));
  outcome.workload = key.workload.name;  // another campaign may have named this shape otherwise
  return std::optional<FoundOutcome>({row->experiment, row->campaign, std::move(outcome)});
}

Result<std::optional<History::FoundIntegration>> History::find_integration(
    const ExperimentKey& key) const {
  const std::optional<FoundRow> row = TRY(find(*database_, key));
  if (!row) {
    return std::optional<FoundIntegration>();
  }
  IntegrationResult result = TRY(whole_integration(*database_, row->experiment, row->result));
  return std::optional<FoundIntegration>({row->experiment, row->campaign, std::move(result)});
}

Result<std::vector<Outcome>> History::outcomes(CampaignId id) const {
  std::vector<ExperimentId> ids;
  {
    Statement select = TRY(database_->prepare(
        "SELECT id FROM experiment WHERE campaign = ? AND state IN ('done','reused')"
        " AND kind IN ('screen','confirm') ORDER BY id"));
    select.bind(number_of(id.value));
    while (TRY(select.step())) {
      ids.push_back(id_of<ExperimentTag>(select.integer(0)));
    }
  }
  std::vector<Outcome> out;
  for (const ExperimentId experiment : ids) {
    std::optional<Outcome> found = TRY(outcome(experiment));
    if (found) {
      out.push_back(std::move(*found));
    }
  }
  return out;
}

Result<std::vector<ExperimentRow>> History::experiments(const ExperimentFilter& filter) const {
  Statement select = TRY(database_->prepare(
      FUSEFARM_EXPERIMENT_COLUMNS
      " WHERE (?1 = 0 OR e.campaign = ?1) AND lower(hex(e.region)) LIKE ?2 || '%'"
      " AND (?3 = '' OR f.verdict = ?3) AND (?4 = '' OR e.kind = ?4) AND (?5 = '' OR e.campaign IN"
      " (SELECT id FROM campaign WHERE name = ?5)) ORDER BY e.id DESC LIMIT ?6"));
  select.bind(number_of(filter.campaign.value))
      .bind(filter.region_prefix)
      .bind(filter.verdict)
      .bind(filter.kind)
      .bind(filter.campaign_name)
      .bind(filter.limit);
  std::vector<ExperimentRow> out;
  while (TRY(select.step())) {
    out.push_back(experiment_row(select));
  }
  return out;
}

Result<std::optional<ExperimentRow>> History::experiment(ExperimentId id) const {
  Statement select = TRY(database_->prepare(FUSEFARM_EXPERIMENT_COLUMNS " WHERE e.id = ?"));
  select.bind(number_of(id.value));
  if (!TRY(select.step())) {
    return std::optional<ExperimentRow>();
  }
  return std::optional<ExperimentRow>(experiment_row(select));
}

Result<std::optional<Outcome>> History::outcome(ExperimentId id) const {
  const std::optional<FoundRow> row = TRY(finished(*database_, id, false));
  if (!row) {
    return std::optional<Outcome>();
  }
  return std::optional<Outcome>(TRY(whole_outcome(*database_, row->experiment, row->result)));
}

Result<std::optional<IntegrationResult>> History::integration(ExperimentId id) const {
  const std::optional<FoundRow> row = TRY(finished(*database_, id, true));
  if (!row) {
    return std::optional<IntegrationResult>();
  }
  return std::optional<IntegrationResult>(
      TRY(whole_integration(*database_, row->experiment, row->result)));
}

}  // namespace fusefarm::store
