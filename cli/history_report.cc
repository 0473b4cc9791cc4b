#include "cli/history_report.h"

#include <cmath>
#include <optional>

#include "records/campaign_json.h"
#include "records/candidate_json.h"
#include "records/job_json.h"
#include "records/outcome_json.h"

namespace fusefarm::cli {
namespace {

using nlohmann::json;

// Intervals are log speed-ups in the store and factors for people: 1.08 is 8 % faster.
json speedup(const std::optional<Interval>& interval) {
  if (!interval) {
    return nullptr;
  }
  return {{"estimate", std::exp(interval->estimate)},
          {"lo", std::exp(interval->lo)},
          {"hi", std::exp(interval->hi)}};
}

json row_of(const store::CampaignRow& row, const store::Counters& counters) {
  return {{"id", row.id.value},
          {"name", row.name},
          {"spec_hash", row.spec_hash.hex()},
          {"state", store::to_string(row.state)},
          {"result", row.result},
          {"started_ms", row.started_ms},
          {"ended_ms", row.ended_ms},
          {"runs", row.runs},
          {"experiments",
           {{"total", counters.total},
            {"executed", counters.executed},
            {"reused", counters.reused},
            {"abandoned", counters.abandoned}}}};
}

json row_of(const store::ExperimentRow& row) {
  return {{"id", row.id.value},
          {"campaign", row.campaign.value},
          {"phase", row.phase},
          {"kind", store::to_string(row.kind)},
          {"state", store::to_string(row.state)},
          {"region", row.region.hex()},
          {"workload", row.workload},
          {"candidate", row.candidate.hex()},
          {"incumbent", row.incumbent.hex()},
          {"family", row.family},
          {"origin", row.origin},
          {"verdict", row.verdict},
          {"reason", row.reason},
          {"detail", row.detail},
          {"causal_label", row.causal_label},
          {"screen", speedup(row.screen)},
          {"confirmation", speedup(row.confirmation)},
          {"started_ms", row.started_ms},
          {"ended_ms", row.ended_ms}};
}

json row_of(const store::RewriteRow& row) {
  return {{"id", row.id.value},
          {"campaign", row.campaign.value},
          {"phase", row.phase},
          {"region", row.region.hex()},
          {"contains", row.contains},
          {"workload", row.workload},
          {"candidate", row.candidate.hex()},
          {"confirmation", row.confirmation.value},
          {"graph_from", row.graph_from.hex()},
          {"graph_to", row.graph_to.hex()},
          {"state", store::to_string(row.state)}};
}

Error not_there(const std::string& what) {
  return Error{ErrorCode::kNotFound,
               "the history has no " + what + "; `fusefarm history list` shows what it has"};
}

// What the store or a codec wrote; parsing it again can't fail.
json value_of(const std::string& text) {
  return text.empty() ? json() : json::parse(text, nullptr, false);
}

}  // namespace

Result<json> campaigns_report(const store::History& history) {
  json rows = json::array();
  for (const store::CampaignRow& row : TRY(history.campaigns())) {
    rows.push_back(row_of(row, TRY(history.counters(row.id))));
  }
  return rows;
}

Result<json> experiments_report(const store::History& history,
                                const store::ExperimentFilter& filter) {
  json rows = json::array();
  for (const store::ExperimentRow& row : TRY(history.experiments(filter))) {
    rows.push_back(row_of(row));
  }
  return rows;
}

Result<json> rewrites_report(const store::History& history, const store::ExperimentFilter& filter) {
  json rows = json::array();
  for (const store::CampaignRow& campaign : TRY(history.campaigns())) {
    const bool wanted = (!filter.campaign || filter.campaign == campaign.id) &&
                        (filter.campaign_name.empty() || filter.campaign_name == campaign.name);
    if (!wanted) {
      continue;
    }
    for (const store::RewriteRow& row : TRY(history.rewrites(campaign.id))) {
      if (row.region.hex().starts_with(filter.region_prefix)) {
        rows.push_back(row_of(row));
      }
    }
  }
  return rows;
}

Result<json> campaign_report(const store::History& history, CampaignId id) {
  const std::optional<store::CampaignRow> row = TRY(history.campaign(id));
  if (!row) {
    return not_there("campaign " + std::to_string(id.value));
  }
  json out = row_of(*row, TRY(history.counters(id)));
  const std::optional<CampaignSpec> spec = TRY(history.campaign_spec(id));
  out["spec"] = spec ? value_of(to_json(*spec)) : json();
  out["report"] = value_of(row->report);
  return out;
}

Result<json> experiment_report(const store::History& history, ExperimentId id) {
  const std::optional<store::ExperimentRow> row = TRY(history.experiment(id));
  if (!row) {
    return not_there("experiment " + std::to_string(id.value));
  }
  json out = row_of(*row);
  const std::optional<Outcome> outcome = TRY(history.outcome(id));
  const std::optional<IntegrationResult> integration = TRY(history.integration(id));
  out["outcome"] = outcome ? value_of(to_json(*outcome)) : json();
  out["integration"] = integration ? value_of(to_json(*integration)) : json();
  return out;
}

Result<json> candidate_report(const store::History& history, const Digest& digest) {
  const std::optional<Candidate> candidate = TRY(history.candidate(digest));
  if (!candidate) {
    return not_there("candidate " + digest.hex());
  }
  json out = value_of(to_json(*candidate));
  out["digest"] = digest.hex();
  return out;
}

}  // namespace fusefarm::cli
