#include "search/posterior.h"

#include <gtest/gtest.h>

#include "search/budget.h"

namespace fusefarm::search {
namespace {

TEST(PosteriorTest, DrawsHaveTheMeanAndSpreadOfTheBeta) {
  const Beta beta{3, 5};
  double sum = 0, squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    Random random = Random::keyed(1, "draw", static_cast<std::uint64_t>(i));
    const double x = beta.draw(random);
    ASSERT_GE(x, 0);
    ASSERT_LE(x, 1);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.375, 0.005);
  EXPECT_NEAR(squares / kDraws - mean * mean, 3.0 * 5 / (64.0 * 9), 0.002);
}

TEST(PosteriorTest, EvidenceMovesThePriorAndOtherKeysStay) {
  Posteriors posteriors;
  posteriors.credit("a", 3, 0);
  EXPECT_DOUBLE_EQ(posteriors.of("a", Beta{1, 1}).mean(), 0.8);
  EXPECT_DOUBLE_EQ(posteriors.of("b", Beta{1, 1}).mean(), 0.5);
}

TEST(BudgetLedgerTest, TheReserveIsNeverGranted) {
  BudgetLedger ledger(100, 30);
  ledger.charge("screen", 60);
  EXPECT_TRUE(ledger.affords(10));
  EXPECT_FALSE(ledger.affords(10.5));
  EXPECT_DOUBLE_EQ(ledger.remaining_with_reserve(), 40);
  EXPECT_DOUBLE_EQ(ledger.spent("screen"), 60);
}

TEST(BudgetLedgerTest, NoLimitAffordsEverything) {
  BudgetLedger ledger(0);
  ledger.charge("screen", 1e9);
  EXPECT_TRUE(ledger.affords(1e9));
}

TEST(CostEstimateTest, TheFirstObservationReplacesTheGuess) {
  CostEstimate estimate(100);
  estimate.observe(2);
  EXPECT_DOUBLE_EQ(estimate.seconds(), 2);
  estimate.observe(5);
  EXPECT_DOUBLE_EQ(estimate.seconds(), 3);
}

}  // namespace
}  // namespace fusefarm::search
