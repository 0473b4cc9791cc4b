#include "coordinator/model_loader.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "graph/model_import.h"
#include "records/campaign_json.h"
#include "verify/verdict_rule.h"

namespace fusefarm::coordinator {
namespace {

// Raised when the search's decisions change for the same records.
constexpr std::uint64_t kSearchRules = 1;

Result<graph::Phase> phase_of(const CampaignSpec& spec) {
  const auto count = [&](graph::Phase phase) {
    return std::count_if(spec.workloads.begin(), spec.workloads.end(),
                         [&](const Workload& workload) { return workload.phase == phase; });
  };
  const auto diffusion = count(graph::Phase::kBlockDiffusion);
  if (diffusion > 0 && diffusion != std::ssize(spec.workloads)) {
    return Error{ErrorCode::kUnsupported,
                 "workloads: block-diffusion can't be mixed with decode or prefill in a campaign;"
                 " make two campaigns"};
  }
  if (diffusion > 0) {
    return graph::Phase::kBlockDiffusion;
  }
  // The prefill graph selects the last row of each sequence; for decode that is every row.
  return count(graph::Phase::kPrefill) > 0 ? graph::Phase::kPrefill : graph::Phase::kDecode;
}

}  // namespace

Result<LoadedModel> load_model(const CampaignSpec& spec) {
  const std::string text = TRY(read_file(spec.model_config));
  const graph::ModelConfig config = TRY(graph::parse_model_config(text, spec.model_config));
  graph::ImportOptions options;
  options.tensor_parallel = spec.tensor_parallel;
  options.layers = spec.layers;
  options.phase = TRY(phase_of(spec));
  options.dtype = spec.dtype;
  Result<graph::Graph> built = graph::build_model_graph(config, options);
  if (!built.ok()) {
    return built.error().with_context(spec.model_config);
  }
  return LoadedModel{std::make_shared<const graph::Graph>(built.take()), digest_of(text)};
}

Digest campaign_hash(const CampaignSpec& spec, const Digest& config_digest) {
  // Where results go doesn't change them.
  CampaignSpec identity = spec;
  identity.output_folder.clear();
  identity.store_path.clear();
  identity.model_config.clear();
  return DigestBuilder()
      .add(to_json(identity))
      .add(config_digest)
      .add(kSearchRules)
      .add(static_cast<std::uint64_t>(verify::kVerdictRuleVersion))
      .finish();
}

}  // namespace fusefarm::coordinator
