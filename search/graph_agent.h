// GraphAgent: one phase over a frozen graph version. Which regions are worth an ECHO search, under
// which workloads, in which order.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "records/campaign.h"
#include "records/proposer.h"
#include "search/region_groups.h"
#include "search/region_score.h"

namespace fusefarm::search {

struct PhaseInputs {
  int phase = 1;  // 1, 2, ...
  const graph::Graph* model = nullptr;
  const ProfileView* profile = nullptr;
  const Posteriors* posteriors = nullptr;
  const CampaignSpec* campaign = nullptr;
  const std::vector<Proposer*>* proposers = nullptr;
  std::function<bool(const graph::Node&)> may_contain;   // ProposerSet's
  const ImplementationTable* implementations = nullptr;  // of the accepted regions in `model`
  int threads = 1;
  // Regions that are not to be tried again: (signature, contained signatures) of what failed
  // integration or was searched to its end on the same incumbent.
  const std::set<std::string>* settled = nullptr;
};

struct PhaseRegion {
  RegionGroup group;
  RegionEstimate estimate;
  bool explored = false;
};

struct PhasePlan {
  int nodes_max = 0;
  std::size_t enumerated = 0, implementable = 0, groups = 0;
  double headroom = 0;  // summed over the selected regions: share of serving time above the floor
  std::vector<PhaseRegion> regions;  // ranked first
};

Result<PhasePlan> plan_phase(const PhaseInputs& inputs);

// Identifies a region and what it is compared with, for `settled`.
std::string region_key(const RegionGroup& group);

}  // namespace fusefarm::search
