#include "tests/fakes/fake_proposer.h"

#include <algorithm>
#include <map>

namespace fusefarm::fakes {
namespace {

bool fusable(const graph::Node& node) {
  return !graph::is_collective(node.op) && node.op != graph::OpKind::kAttention &&
         node.op != graph::OpKind::kEmbedding;
}

}  // namespace

bool FakeProposer::can_implement(const graph::Graph& region) const {
  const auto counted = std::count_if(region.nodes().begin(), region.nodes().end(),
                                     [](const graph::Node& node) { return !is_view(node.op); });
  return counted >= 2 && std::all_of(region.nodes().begin(), region.nodes().end(), fusable);
}

Candidate FakeProposer::candidate(const Digest& region, const std::string& workload,
                                  std::int64_t tile) {
  Candidate candidate;
  candidate.region = region;
  candidate.source = "tile " + std::to_string(tile) + " for " + workload;
  candidate.origin = "fake";
  candidate.family = tile % 2 == 0 ? "even" : "odd";
  candidate.schedule["tile"] = tile;
  return candidate;
}

Result<std::vector<Plan>> FakeProposer::propose(const ProposalContext& context, int plans_max) {
  std::map<Digest, std::int64_t> tile_of;
  for (std::int64_t tile = 1; tile <= 32; ++tile) {
    tile_of[candidate(context.signature, context.workload.name, tile).digest()] = tile;
  }
  std::vector<std::int64_t> tiles;
  const Outcome* best = nullptr;
  for (const Outcome* outcome : context.history) {
    if (outcome->screen && (best == nullptr || outcome->screen->lo > best->screen->lo)) {
      best = outcome;
    }
  }
  if (best != nullptr && tile_of.contains(best->candidate)) {
    const std::int64_t center = tile_of.at(best->candidate);
    tiles = {center + 1, center - 1, center + 2, center - 2};
  } else {
    tiles = {1, 4, 8, 12, 16, 2, 6, 10};
  }
  std::vector<Plan> plans;
  for (const std::int64_t tile : tiles) {
    if (tile < 1 || tile > 32 || std::ssize(plans) >= plans_max) {
      continue;
    }
    Hypothesis hypothesis;
    hypothesis.family = tile < 8 ? "small_tile" : "large_tile";
    hypothesis.gain_lo = 0.02;
    hypothesis.gain_hi = 0.2;
    Plan plan;
    plan.hypotheses.push_back(std::move(hypothesis));
    plan.units.push_back(
        {"whole", 0, candidate(context.signature, context.workload.name, tile), {}});
    plans.push_back(std::move(plan));
  }
  return plans;
}

Result<search::ProposerSet> make_fake_proposers(const std::vector<std::string>& names,
                                                const codegen::Roofs&) {
  search::ProposerSet set;
  for (std::size_t i = 0; i < names.size(); ++i) {
    set.owned.push_back(std::make_unique<FakeProposer>());
  }
  set.may_contain = fusable;
  return set;
}

}  // namespace fusefarm::fakes
