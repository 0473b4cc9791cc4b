// What a region promises: its share of end-to-end time, its headroom over compulsory work against
// measured roofs, its chance of success and what it costs to try.
#pragma once

#include <string>
#include <vector>

#include "records/job.h"
#include "records/workload.h"
#include "search/posterior.h"
#include "search/profile_view.h"
#include "search/region_groups.h"

namespace fusefarm::search {

// A region under one workload. Times are of all occurrences in one step.
struct CellEstimate {
  Workload workload;
  double now_seconds = 0;
  double floor_seconds = 0;   // compulsory bytes and FLOPs over measured roofs
  double elided_seconds = 0;  // launches and interior traffic that fusion saves
  double open_seconds = 0;    // of now: outside of regions accepted before
  double saved_seconds = 0;   // predicted
  double share = 0;           // workload weight x now / step
  double value = 0;           // workload weight x saved / step

  double headroom() const { return now_seconds > 0 ? 1 - floor_seconds / now_seconds : 0; }

  // Part of the present time that no accepted implementation has been found for.
  double open_share() const { return now_seconds > 0 ? open_seconds / now_seconds : 0; }
};

struct RegionEstimate {
  std::vector<CellEstimate> cells;
  double p_ok = 0;
  double parallelism = 1;  // below 1: too few independent elements for the device's threads
  double value = 0;        // expected share of serving time saved
  double cost_seconds = 1;

  double score() const { return value / cost_seconds; }
};

struct ScoreInputs {
  const graph::Graph* model = nullptr;
  const ProfileView* profile = nullptr;
  const Posteriors* posteriors = nullptr;
  const std::vector<Workload>* workloads = nullptr;
  const ImplementationTable* implementations = nullptr;  // of the model's accepted regions
  int threads = 1;
  double cell_cost_seconds = 20;  // of searching one region x workload
};

RegionEstimate estimate_region(const RegionGroup& group, const ScoreInputs& inputs);

// Success is rarer for larger steps: one accepted step at a time is the safer way to a big region.
Beta pattern_prior(int members);
std::string pattern_key(const RegionGroup& group);

}  // namespace fusefarm::search
