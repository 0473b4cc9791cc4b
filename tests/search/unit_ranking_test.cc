#include "search/unit_ranking.h"

#include <map>

#include <gtest/gtest.h>

namespace fusefarm::search {
namespace {

PooledUnit unit(const std::string& family, std::int64_t tile, double gain) {
  PooledUnit result;
  result.proposer = "test";
  result.hypothesis.family = family;
  result.hypothesis.gain_lo = gain;
  result.hypothesis.gain_hi = gain;
  result.unit.candidate.source = family + std::to_string(tile);
  result.unit.candidate.schedule["tile"] = tile;
  result.digest = result.unit.candidate.digest();
  return result;
}

std::vector<PooledUnit> pool() {
  std::vector<PooledUnit> units;
  for (std::int64_t tile = 0; tile < 20; ++tile) {
    units.push_back(unit("strong", tile, 0.3));
  }
  units.push_back(unit("weak", 0, 0.02));
  units.push_back(unit("other", 0, 0.02));
  return units;
}

TEST(UnitRankingTest, EveryLiveFamilyGetsASlotAndNoneMoreThanHalf) {
  RankInputs inputs;
  inputs.count_max = 8;
  std::vector<PooledUnit> units = pool();
  for (std::int64_t tile = 1; tile < 6; ++tile) {
    units.push_back(unit("weak", tile, 0.02));
  }
  std::map<std::string, int> families;
  for (const RankedUnit& ranked : rank_units(units, Posteriors{}, inputs)) {
    ++families[units[ranked.index].hypothesis.family];
  }
  EXPECT_EQ(families.size(), 3U);
  EXPECT_LE(families["strong"], 4);
}

TEST(UnitRankingTest, TheRankIsAFunctionOfSeedAndDecision) {
  const std::vector<PooledUnit> units = pool();
  RankInputs inputs;
  const auto order = [&] {
    std::vector<std::size_t> result;
    for (const RankedUnit& ranked : rank_units(units, Posteriors{}, inputs)) {
      result.push_back(ranked.index);
    }
    return result;
  };
  const std::vector<std::size_t> first = order();
  EXPECT_EQ(order(), first);
  inputs.seed = 2;
  EXPECT_NE(order(), first);
}

TEST(UnitRankingTest, AUnitsValueDoesNotDependOnItsCompany) {
  RankInputs inputs;
  inputs.count_max = 100;
  const std::vector<PooledUnit> alone{unit("strong", 3, 0.3)};
  const double value = rank_units(alone, Posteriors{}, inputs).front().value;
  const std::vector<PooledUnit> units = pool();
  for (const RankedUnit& ranked : rank_units(units, Posteriors{}, inputs)) {
    if (units[ranked.index].digest == alone.front().digest) {
      EXPECT_DOUBLE_EQ(ranked.value, value);
    }
  }
}

TEST(UnitRankingTest, FailuresOfAFamilyLowerItsValue) {
  RankInputs inputs;
  const std::vector<PooledUnit> units{unit("strong", 3, 0.3)};
  Posteriors bad;
  bad.credit(units.front().hypothesis_key(""), 0, 30);
  EXPECT_LT(rank_units(units, bad, inputs).front().value,
            rank_units(units, Posteriors{}, inputs).front().value);
}

}  // namespace
}  // namespace fusefarm::search
