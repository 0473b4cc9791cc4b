// From the campaign's model config to graph version 0.
#pragma once

#include <memory>

#include "base/digest.h"
#include "base/result.h"
#include "graph/graph.h"
#include "records/campaign.h"

namespace fusefarm::coordinator {

struct LoadedModel {
  // Shared with the jobs of the worker's thread; never changes.
  std::shared_ptr<const graph::Graph> graph;
  Digest config_digest;  // of the config file's content
};

// One graph serves decode and prefill; block diffusion attends differently and can't be mixed with
// them (kUnsupported).
Result<LoadedModel> load_model(const CampaignSpec& spec);

// Identifies what a campaign does: its specification, the model's content and the rules of this
// version. The same campaign file on a changed model is another campaign.
Digest campaign_hash(const CampaignSpec& spec, const Digest& config_digest);

}  // namespace fusefarm::coordinator
