// The state of one campaign, owned by the coordinator's thread. All of it follows from the
// specification and the store's records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/progress.h"
#include "records/campaign.h"
#include "records/job.h"
#include "search/budget.h"
#include "search/graph_agent.h"
#include "search/make_proposers.h"
#include "search/posterior.h"
#include "search/profile_view.h"

namespace fusefarm::coordinator {

// One implementation that passed its confirmation, and what became of it.
struct RewriteRecord {
  Digest region;
  std::string pattern;
  int phase = 0;
  int occurrences = 0;
  std::vector<std::string> contains;  // accepted regions inside (hex), then ops
  std::string workload;
  Candidate candidate;
  Outcome confirmation;
  double share = 0;  // of serving time before the rewrite
  bool committed = false;
  IntegrationResult integration;
  std::int32_t graph_version = 0;  // when committed
};

struct CellRecord {
  Digest region;
  std::string pattern, workload;
  double share = 0, headroom = 0;
  std::int64_t experiments = 0;
  double best_screen = 0;  // log speed-up
  std::string stopped;     // why the search here ended
};

struct PhaseRecord {
  int phase = 0, nodes_max = 0;
  std::size_t enumerated = 0, implementable = 0, groups = 0;
  double headroom = 0;
  std::vector<CellRecord> cells;
  int committed = 0;  // regions
  double seconds = 0;
};

struct CampaignState {
  CampaignState(CampaignSpec campaign, std::shared_ptr<const graph::Graph> graph, int cores)
      : spec(std::move(campaign)),
        original{std::move(graph), {}},
        current(original),
        threads(cores),
        ledger(spec.search.budget_seconds) {}

  CampaignSpec spec;
  ModelVersion original;  // version 0
  ModelVersion current;
  int threads;

  ProfileResult profile;
  search::ProfileView view;  // of `current`
  search::Posteriors posteriors;
  search::ProposerSet proposers;
  search::BudgetLedger ledger;
  // Observed over search::predicted_screen_seconds(): how busy or slow this host is.
  search::CostEstimate screen_slowness{1.0};
  search::CostEstimate confirm_cost{6.0};
  search::CostEstimate integrate_cost{12.0};
  std::set<std::string> settled;  // search::region_key of what is not searched again

  std::vector<PhaseRecord> phases;
  std::vector<RewriteRecord> rewrites;
  std::map<std::string, std::int64_t> verdicts;  // by name
  std::int64_t experiments = 0;                  // with an outcome
  double recorded_seconds = 0;                   // of steps taken from the store
  std::optional<IntegrationResult> end_to_end;
};

}  // namespace fusefarm::coordinator
