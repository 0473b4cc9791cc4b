#include "base/random.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace fusefarm {
namespace {

TEST(RandomTest, ADecisionDrawsTheSameWhateverElseWasDrawn) {
  Random first = Random::keyed(7, "quad-order", 3, 4);
  Random other = Random::keyed(7, "another", 3, 4);
  other.next();
  Random again = Random::keyed(7, "quad-order", 3, 4);
  EXPECT_EQ(first.next(), again.next());
}

TEST(RandomTest, EveryPartOfTheKeyCounts) {
  const std::uint64_t base = Random::keyed(1, "a", 2, 3).next();
  EXPECT_NE(base, Random::keyed(2, "a", 2, 3).next());
  EXPECT_NE(base, Random::keyed(1, "b", 2, 3).next());
  EXPECT_NE(base, Random::keyed(1, "a", 3, 3).next());
  EXPECT_NE(base, Random::keyed(1, "a", 3, 2).next());
}

TEST(RandomTest, BelowIsUniform) {
  std::array<int, 7> count{};
  Random random(5);
  for (int i = 0; i < 70'000; ++i) {
    ++count[random.below(7)];
  }
  for (const int c : count) {
    EXPECT_NEAR(c, 10'000, 500);  // 5 standard deviations
  }
}

TEST(RandomTest, NormalHasUnitVariance) {
  Random random(9);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

TEST(RandomTest, AKeyedCoinIsFair) {
  int heads = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    heads += Random::keyed(3, "coin", i).coin() ? 1 : 0;
  }
  EXPECT_NEAR(heads, 5'000, 250);
}

}  // namespace
}  // namespace fusefarm
