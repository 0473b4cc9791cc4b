#include "search/graph_agent.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "graph/cost.h"
#include "search/noop_proposer.h"
#include "tests/fakes/tiny_model.h"

namespace fusefarm::search {
namespace {

class GraphAgentTest : public ::testing::Test {
 protected:
  GraphAgentTest() : model_(fakes::tiny_graph(2)), proposers_{&noop_} {
    campaign_.workloads = fakes::tiny_workloads();
    campaign_.search.region_nodes_max = 3;
    campaign_.search.regions_per_phase = 6;
    ProfileResult profile;
    profile.copy_bytes_per_second = 20e9;
    profile.flops_per_second = 200e9;
    for (const Workload& workload : campaign_.workloads) {
      WorkloadProfile entry;
      entry.workload = workload.name;
      for (const graph::Node& node : model_.nodes()) {
        const double time =
            graph::is_view(node.op)
                ? 0
                : 5e-6 + static_cast<double>(
                             graph::node_cost(model_, node, workload.bindings()).bytes()) /
                             10e9;
        entry.nodes.push_back({node.id, time});
        entry.step_seconds += time;
      }
      profile.workloads.push_back(entry);
    }
    view_ = ProfileView(profile);
  }

  PhasePlan plan(int phase) {
    PhaseInputs inputs;
    inputs.phase = phase;
    inputs.model = &model_;
    inputs.profile = &view_;
    inputs.posteriors = &posteriors_;
    inputs.campaign = &campaign_;
    inputs.proposers = &proposers_;
    inputs.may_contain = [](const graph::Node& node) {
      return node.op != graph::OpKind::kAttention && node.op != graph::OpKind::kEmbedding;
    };
    inputs.settled = &settled_;
    return plan_phase(inputs).take();
  }

  graph::Graph model_;
  NoopProposer noop_;
  std::vector<Proposer*> proposers_;
  CampaignSpec campaign_;
  ProfileView view_;
  Posteriors posteriors_;
  std::set<std::string> settled_;
};

TEST_F(GraphAgentTest, RankedRegionsAreDisjointAndWithinTheCap) {
  const PhasePlan chosen = plan(1);
  EXPECT_LE(chosen.regions.size(), 6U);
  EXPECT_GE(chosen.regions.size(), 3U);
  std::set<graph::NodeId> seen;
  for (const PhaseRegion& region : chosen.regions) {
    EXPECT_LE(region.group.members, 3);
    for (const graph::NodeSet& set : region.group.occurrences) {
      for (const graph::NodeId node : set.nodes) {
        EXPECT_TRUE(region.explored || seen.insert(node).second);
      }
    }
  }
}

TEST_F(GraphAgentTest, TheSizeCapGrowsByTwoNodesAPhase) {
  EXPECT_EQ(plan(1).nodes_max, 3);
  EXPECT_EQ(plan(2).nodes_max, 5);
  EXPECT_GT(plan(2).enumerated, plan(1).enumerated);
}

TEST_F(GraphAgentTest, SettledRegionsAreNotSelectedAgain) {
  const PhasePlan first = plan(1);
  settled_.insert(region_key(first.regions.front().group));
  for (const PhaseRegion& region : plan(1).regions) {
    EXPECT_NE(region.group.signature, first.regions.front().group.signature);
  }
}

TEST_F(GraphAgentTest, SharesAreOfServingTimeAndHeadroomIsWithinThem) {
  const PhasePlan chosen = plan(1);
  double share = 0;
  for (const PhaseRegion& region : chosen.regions) {
    for (const CellEstimate& cell : region.estimate.cells) {
      EXPECT_GE(cell.now_seconds, cell.floor_seconds);
      EXPECT_GE(cell.headroom(), 0);
      EXPECT_LE(cell.saved_seconds, cell.now_seconds);
      share += region.explored ? 0 : cell.share;
    }
  }
  EXPECT_LE(share, 1.0);
  EXPECT_LE(chosen.headroom, share);
}

TEST_F(GraphAgentTest, ARegionsGainIsCarriedIntoTheNextVersionsProfile) {
  const PhasePlan chosen = plan(1);
  const RegionGroup& group = chosen.regions.front().group;
  const std::vector<graph::NodeId>& members = group.occurrences.front().nodes;
  const double step = view_.step_seconds("decode");
  const double before = view_.seconds_of("decode", members);
  view_.contract(members, 9999, {{"decode", std::log(2.0)}});
  EXPECT_NEAR(view_.node_seconds("decode", 9999), before / 2, 1e-12);
  EXPECT_NEAR(view_.step_seconds("decode"), step - before / 2, 1e-12);
  EXPECT_DOUBLE_EQ(view_.seconds_of("decode", members), 0);
}

}  // namespace
}  // namespace fusefarm::search
