// Each write of the store as a function of its values, to be queued. Internal to store.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "records/candidate.h"
#include "records/outcome.h"
#include "store/rows.h"
#include "store/writer.h"

namespace fusefarm::store {

Writer::Write insert_campaign(CampaignId id, const std::string& name, const Digest& spec_hash,
                              std::string spec_json, std::int64_t now_ms);
// Running again; what a dead process had started is abandoned.
Writer::Write take_up_campaign(CampaignId id, std::int64_t now_ms);
Writer::Write update_campaign_end(CampaignId id, CampaignState state, std::string result,
                                  std::string report, std::int64_t now_ms);
Writer::Write update_profile(CampaignId id, std::string profile_json);

Writer::Write insert_graph_version(const GraphVersionRow& row, std::string graph_json,
                                   std::int64_t now_ms);
Writer::Write insert_region(const Digest& signature, std::string ir, std::string pattern,
                            std::int64_t now_ms);
Writer::Write insert_candidate(const Candidate& candidate, std::int64_t now_ms);

struct ExperimentStart {
  ExperimentId id;
  CampaignId campaign;
  int phase = 0;
  ExperimentKey key;
};

Writer::Write insert_experiments(std::vector<ExperimentStart> starts, std::int64_t now_ms);
Writer::Write update_outcome(ExperimentId id, Outcome outcome, std::int64_t now_ms);
Writer::Write update_integration(ExperimentId id, IntegrationResult result, std::int64_t now_ms);
Writer::Write update_abandoned(ExperimentId id, std::string reason, std::int64_t now_ms);
Writer::Write insert_reuse(ExperimentId id, CampaignId campaign, int phase, ExperimentId source,
                           std::int64_t now_ms);

Writer::Write insert_rewrite(const RewriteRow& row, std::int64_t now_ms);
Writer::Write update_rewrites(std::vector<RewriteId> ids, RewriteState state,
                              std::string integration_json, std::int64_t now_ms);
Writer::Write insert_decision(CampaignId id, Decision decision, std::int64_t now_ms);
Writer::Write insert_event(CampaignId id, std::string kind, std::string payload,
                           std::int64_t now_ms);

}  // namespace fusefarm::store
