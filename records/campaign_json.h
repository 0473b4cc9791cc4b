// Campaign specifications and workloads as JSON: how the store keeps what an operator wrote as
// YAML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/campaign.h"
#include "records/workload.h"

namespace fusefarm {

constexpr int kCampaignSpecVersion = 1;

std::string to_json(const Workload& workload);
Result<Workload> workload_from_json(std::string_view text);

std::string to_json(const CampaignSpec& spec);
Result<CampaignSpec> campaign_spec_from_json(std::string_view text);

}  // namespace fusefarm
