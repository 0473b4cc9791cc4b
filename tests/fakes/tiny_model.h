// A model small enough for any test: the real families' shape, toy dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "records/campaign.h"

namespace fusefarm::fakes {

// A qwen3 config.json with two layers of hidden size 64.
std::string tiny_config_json();
graph::Graph tiny_graph(std::int64_t layers = 2);
// Decode and prefill of the tiny model.
std::vector<Workload> tiny_workloads();
// A campaign over it whose config file is written into `folder`.
CampaignSpec tiny_campaign(const std::string& folder);

}  // namespace fusefarm::fakes
