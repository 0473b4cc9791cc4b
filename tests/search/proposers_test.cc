#include <set>

#include <gtest/gtest.h>

#include "search/graph_agent.h"
#include "search/make_proposers.h"
#include "search/region_groups.h"
#include "tests/fakes/tiny_model.h"

namespace fusefarm::search {
namespace {

RegionCatalogue catalogue(const ProposerSet& set, const graph::Graph& model) {
  GroupOptions options;
  options.nodes_max = 3;
  options.may_contain = set.may_contain;
  options.can_implement = [&](const graph::Graph& region) {
    return set.owned.front()->can_implement(region);
  };
  return catalogue_regions(model, options).take();
}

ProposalContext context_of(const RegionGroup& group, const Workload& workload) {
  ProposalContext context;
  context.region = group.region.get();
  context.signature = group.signature;
  context.workload = workload;
  context.threads = 2;
  return context;
}

TEST(ProposersTest, UnknownNamesAreRefusedByName) {
  const Result<ProposerSet> set = make_proposers({"builtin", "oracle"}, {});
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(set.error().message.find("oracle"), std::string::npos);
}

TEST(ProposersTest, TheControlProposesTheIncumbentOnceAndThenNothing) {
  ProposerSet set = make_proposers({"noop"}, {}).take();
  const RegionCatalogue found = catalogue(set, fakes::tiny_graph(1));
  ASSERT_FALSE(found.groups.empty());
  ProposalContext context = context_of(found.groups.front(), fakes::tiny_workloads().front());
  const std::vector<Plan> plans = set.owned.front()->propose(context, 16).take();
  ASSERT_EQ(plans.size(), 1U);
  for (const PlanStep& step : plans.front().units.front().candidate.plan.steps) {
    EXPECT_TRUE(std::holds_alternative<LibraryStep>(step));
  }
  context.round = 1;
  EXPECT_TRUE(set.owned.front()->propose(context, 16).take().empty());
}

TEST(ProposersTest, TheBuiltinProposesDistinctCandidatesForRegionsItClaims) {
  ProposerSet set = make_proposers({"builtin"}, {}).take();
  const RegionCatalogue found = catalogue(set, fakes::tiny_graph(1));
  ASSERT_FALSE(found.groups.empty());
  for (std::size_t i = 0; i < found.groups.size(); i += 5) {
    const RegionGroup& group = found.groups[i];
    for (const Workload& workload : fakes::tiny_workloads()) {
      const std::vector<Plan> plans =
          set.owned.front()->propose(context_of(group, workload), 16).take();
      EXPECT_GE(plans.size(), 4U) << group.pattern;
      std::set<Digest> digests;
      for (const Plan& plan : plans) {
        ASSERT_EQ(plan.units.size(), 1U);
        EXPECT_EQ(plan.units.front().candidate.region, group.signature);
        EXPECT_FALSE(plan.hypotheses.front().family.empty());
        digests.insert(plan.units.front().candidate.digest());
      }
      EXPECT_GE(digests.size(), 4U) << group.pattern;
    }
  }
}

TEST(ProposersTest, TheBuiltinSearchesAroundWhatMeasuredBest) {
  ProposerSet set = make_proposers({"builtin"}, {}).take();
  const RegionCatalogue found = catalogue(set, fakes::tiny_graph(1));
  ASSERT_FALSE(found.groups.empty());
  ProposalContext context = context_of(found.groups.front(), fakes::tiny_workloads().front());
  const std::vector<Plan> first = set.owned.front()->propose(context, 16).take();
  ASSERT_FALSE(first.empty());
  Outcome best;
  best.candidate = first.back().units.front().candidate.digest();
  best.screen = Interval{0.2, 0.15, 0.25};
  context.history = {&best};
  context.round = 1;
  bool tuned = false;
  for (const Plan& plan : set.owned.front()->propose(context, 16).take()) {
    tuned = tuned || plan.hypotheses.front().family.starts_with("tune_");
  }
  EXPECT_TRUE(tuned);
}

}  // namespace
}  // namespace fusefarm::search
