#include "search/graph_agent.h"

#include <algorithm>
#include <utility>

#include "search/selection.h"

namespace fusefarm::search {
namespace {

constexpr int kGrowthPerPhase = 2;  // contracted nodes
// Of serving time: what two regions must promise more than one that holds both, as each costs a
// search of its own.
constexpr double kRegionCost = 0.0005;

Selectable selectable(const PhaseRegion& region) {
  Selectable entry;
  entry.value = region.estimate.value - kRegionCost;
  for (const graph::NodeSet& set : region.group.occurrences) {
    entry.nodes.insert(entry.nodes.end(), set.nodes.begin(), set.nodes.end());
  }
  return entry;
}

}  // namespace

std::string region_key(const RegionGroup& group) {
  std::string key = group.signature.hex();
  key += group.revisit ? "/revisit" : "";
  for (const Digest& inner : group.contains) {
    key += "/" + inner.hex();
  }
  return key;
}

Result<PhasePlan> plan_phase(const PhaseInputs& inputs) {
  const SearchSpec& search = inputs.campaign->search;
  GroupOptions options;
  options.nodes_max = search.region_nodes_max + kGrowthPerPhase * (inputs.phase - 1);
  options.may_contain = inputs.may_contain;
  options.can_implement = [&](const graph::Graph& region) {
    return std::any_of(inputs.proposers->begin(), inputs.proposers->end(),
                       [&](const Proposer* proposer) { return proposer->can_implement(region); });
  };
  RegionCatalogue catalogue = TRY(catalogue_regions(*inputs.model, options));
  PhasePlan plan;
  plan.nodes_max = options.nodes_max;
  plan.enumerated = catalogue.enumerated;
  plan.implementable = catalogue.implementable;
  plan.groups = catalogue.groups.size();
  for (RegionGroup& group : TRY(accepted_regions(*inputs.model))) {
    catalogue.groups.push_back(std::move(group));
  }
  ScoreInputs score;
  score.model = inputs.model;
  score.profile = inputs.profile;
  score.posteriors = inputs.posteriors;
  score.workloads = &inputs.campaign->workloads;
  score.implementations = inputs.implementations;
  score.threads = inputs.threads;
  std::vector<PhaseRegion> regions;
  std::vector<Selectable> values;
  for (RegionGroup& group : catalogue.groups) {
    if (inputs.settled != nullptr && inputs.settled->contains(region_key(group))) {
      continue;
    }
    PhaseRegion region{std::move(group), {}, false};
    region.estimate = estimate_region(region.group, score);
    values.push_back(selectable(region));
    regions.push_back(std::move(region));
  }
  SelectionOptions selection;
  selection.count_max = static_cast<std::size_t>(std::max(0, search.regions_per_phase));
  selection.seed = search.seed;
  selection.phase = inputs.phase;
  for (const Selected& selected : select_regions(values, selection)) {
    PhaseRegion& region = regions[selected.index];
    region.explored = selected.explored;
    for (const CellEstimate& cell : region.estimate.cells) {
      if (!selected.explored) {
        plan.headroom += cell.share * cell.headroom();
      }
    }
    plan.regions.push_back(std::move(region));
  }
  return plan;
}

}  // namespace fusefarm::search
