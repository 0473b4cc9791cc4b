#include "search/selection.h"

#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fusefarm::search {
namespace {

double value_of(const std::vector<Selectable>& regions, const std::vector<std::size_t>& chosen) {
  double sum = 0;
  for (const std::size_t i : chosen) {
    sum += regions[i].value;
  }
  return sum;
}

bool disjoint(const std::vector<Selectable>& regions, const std::vector<std::size_t>& chosen) {
  std::set<graph::NodeId> seen;
  for (const std::size_t i : chosen) {
    for (const graph::NodeId node : regions[i].nodes) {
      if (!seen.insert(node).second) {
        return false;
      }
    }
  }
  return true;
}

double best_by_enumeration(const std::vector<Selectable>& regions) {
  double best = 0;
  for (std::size_t mask = 0; mask < (std::size_t{1} << regions.size()); ++mask) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if ((mask >> i) & 1U) {
        chosen.push_back(i);
      }
    }
    if (disjoint(regions, chosen)) {
      best = std::max(best, value_of(regions, chosen));
    }
  }
  return best;
}

TEST(SelectionTest, TwoSmallRegionsBeatTheLargerOneTheyConflictWith) {
  const std::vector<Selectable> regions{{1.0, {1, 2}}, {0.7, {1}}, {0.7, {2}}};
  EXPECT_EQ(heavy_disjoint_set(regions), (std::vector<std::size_t>{1, 2}));
}

TEST(SelectionTest, WorthlessRegionsAreNeverSelected) {
  const std::vector<Selectable> regions{{0.0, {1}}, {-1.0, {2}}, {0.1, {3}}};
  EXPECT_EQ(heavy_disjoint_set(regions), (std::vector<std::size_t>{2}));
}

TEST(SelectionTest, ChosenRegionsAreDisjointAndNearTheOptimum) {
  double found = 0, best = 0;
  for (std::uint64_t trial = 0; trial < 40; ++trial) {
    Random random = Random::keyed(5, "trial", trial);
    std::vector<Selectable> regions;
    for (int i = 0; i < 12; ++i) {
      const auto from = static_cast<graph::NodeId>(random.below(14));
      std::vector<graph::NodeId> nodes(1 + random.below(4));
      std::iota(nodes.begin(), nodes.end(), from);
      regions.push_back({random.uniform(), nodes});
    }
    const std::vector<std::size_t> chosen = heavy_disjoint_set(regions);
    ASSERT_TRUE(disjoint(regions, chosen));
    found += value_of(regions, chosen);
    best += best_by_enumeration(regions);
  }
  EXPECT_GE(found, 0.97 * best);
}

TEST(SelectionTest, ExplorationTakesItsSlotsAndIsKeyedBySeedAndPhase) {
  std::vector<Selectable> regions;
  for (graph::NodeId i = 0; i < 40; ++i) {
    regions.push_back({1.0 + i, {i / 2}});
  }
  SelectionOptions options;
  options.count_max = 10;
  const std::vector<Selected> first = select_regions(regions, options);
  ASSERT_EQ(first.size(), 10U);
  EXPECT_FALSE(first[8].explored);
  EXPECT_TRUE(first[9].explored);
  EXPECT_EQ(select_regions(regions, options)[9].index, first[9].index);
  std::set<std::size_t> drawn;
  for (options.phase = 1; options.phase < 20; ++options.phase) {
    drawn.insert(select_regions(regions, options)[9].index);
  }
  EXPECT_GT(drawn.size(), 3U);
}

}  // namespace
}  // namespace fusefarm::search
