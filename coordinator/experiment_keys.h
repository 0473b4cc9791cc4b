// What makes two experiments the same one, and the digests that go into it.
#pragma once

#include <string>

#include "coordinator/campaign_state.h"
#include "search/region_groups.h"
#include "store/rows.h"

namespace fusefarm::coordinator {

store::ExperimentKey region_key(const CampaignState& state, store::ExperimentKind kind,
                                const search::RegionGroup& group, const Workload& workload,
                                const Candidate& candidate);
store::ExperimentKey model_key(const CampaignState& state, store::ExperimentKind kind,
                               const ModelVersion& before, const ModelVersion& after);

// The entries that the kRegion nodes of a region's incumbent use under a workload.
ImplementationTable implementations_inside(const search::RegionGroup& group,
                                           const ImplementationTable& table,
                                           const std::string& workload);
// Of those; zero without any: the unfused baseline.
Digest incumbent_digest(const search::RegionGroup& group, const ImplementationTable& table,
                        const std::string& workload);
// Of a graph and the implementations in it.
Digest version_digest(const ModelVersion& version);

}  // namespace fusefarm::coordinator
