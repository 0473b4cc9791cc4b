#include "search/region_groups.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/fakes/tiny_model.h"

namespace fusefarm::search {
namespace {

bool gate_or_elementwise(const graph::Node& node) {
  return node.op == graph::OpKind::kAdd || node.op == graph::OpKind::kRmsNorm ||
         node.op == graph::OpKind::kSiluMul || node.op == graph::OpKind::kLinear ||
         node.op == graph::OpKind::kRegion;
}

RegionCatalogue catalogue(const graph::Graph& graph, int nodes_max) {
  GroupOptions options;
  options.nodes_max = nodes_max;
  options.may_contain = gate_or_elementwise;
  options.can_implement = [](const graph::Graph&) { return true; };
  return catalogue_regions(graph, options).take();
}

const RegionGroup* find(const RegionCatalogue& found, const std::string& pattern) {
  const auto group = std::find_if(found.groups.begin(), found.groups.end(),
                                  [&](const RegionGroup& one) { return one.pattern == pattern; });
  return group == found.groups.end() ? nullptr : &*group;
}

TEST(RegionGroupsTest, ARepeatedLayerIsOneGroupWithAnOccurrencePerLayer) {
  const RegionCatalogue four = catalogue(fakes::tiny_graph(2), 2);
  const RegionGroup* group = find(four, "linear+silu_mul");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->occurrences.size(), 2U);
  EXPECT_EQ(group->region, group->incumbent);
  EXPECT_GT(four.implementable, four.groups.size());
}

TEST(RegionGroupsTest, OccurrencesOfAGroupAreDisjoint) {
  for (const RegionGroup& group : catalogue(fakes::tiny_graph(2), 4).groups) {
    std::set<graph::NodeId> seen;
    for (const graph::NodeSet& set : group.occurrences) {
      for (const graph::NodeId node : set.nodes) {
        EXPECT_TRUE(seen.insert(node).second) << group.pattern;
      }
    }
  }
}

TEST(RegionGroupsTest, ContractionMakesOneNodePerOccurrenceAndOneVersionMore) {
  const graph::Graph model = fakes::tiny_graph(2);
  const RegionCatalogue found = catalogue(model, 2);
  const RegionGroup* group = find(found, "linear+silu_mul");
  ASSERT_NE(group, nullptr);
  std::vector<Contraction> made;
  const graph::Graph contracted = contract_group(model, *group, &made).take();
  EXPECT_EQ(contracted.version, model.version + 1);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(contracted.nodes().size(), model.nodes().size() - 2);
  for (const Contraction& one : made) {
    EXPECT_EQ(signature_of(contracted.node(one.node)), group->signature);
    EXPECT_EQ(one.members.size(), 2U);
  }
}

TEST(RegionGroupsTest, ALargerRegionKeepsAcceptedOnesInItsIncumbent) {
  const graph::Graph model = fakes::tiny_graph(2);
  const RegionCatalogue first = catalogue(model, 2);
  const RegionGroup* inner = find(first, "linear+silu_mul");
  ASSERT_NE(inner, nullptr);
  const graph::Graph contracted = contract_group(model, *inner, nullptr).take();

  const RegionCatalogue second = catalogue(contracted, 2);
  const RegionGroup* outer = find(second, "linear+silu_mul+linear");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->contains, std::vector<Digest>{inner->signature});
  EXPECT_EQ(outer->members, 2);
  EXPECT_EQ(outer->region->nodes().size(), 3U);
  ASSERT_EQ(outer->incumbent->nodes().size(), 2U);
  EXPECT_EQ(outer->incumbent->inputs, outer->region->inputs);
  EXPECT_EQ(outer->incumbent->outputs, outer->region->outputs);
  const graph::Node& kept = outer->incumbent->nodes().front();
  ASSERT_EQ(kept.op, graph::OpKind::kRegion);
  EXPECT_EQ(signature_of(kept), inner->signature);
  // The same computation as the plain three-node region found without any contraction.
  const RegionCatalogue plain = catalogue(model, 3);
  const RegionGroup* flat = find(plain, "linear+silu_mul+linear");
  ASSERT_NE(flat, nullptr);
  EXPECT_EQ(outer->signature, flat->signature);
}

TEST(RegionGroupsTest, AContractedLargerRegionStillHoldsTheSmallerOneInItsBody) {
  const graph::Graph model = fakes::tiny_graph(2);
  const RegionCatalogue first = catalogue(model, 2);
  const RegionGroup* inner = find(first, "linear+silu_mul");
  ASSERT_NE(inner, nullptr);
  const graph::Graph one = contract_group(model, *inner, nullptr).take();
  const RegionCatalogue second = catalogue(one, 2);
  const RegionGroup* outer = find(second, "linear+silu_mul+linear");
  ASSERT_NE(outer, nullptr);
  std::vector<Contraction> made;
  const graph::Graph two = contract_group(one, *outer, &made).take();
  const graph::Node& node = two.node(made.front().node);
  ASSERT_NE(node.body, nullptr);
  EXPECT_EQ(node.body->nodes().size(), 2U);
  // Opened fully it is the imported graph again.
  EXPECT_EQ(graph::expand(two).nodes().size(), model.nodes().size());
}

}  // namespace
}  // namespace fusefarm::search
