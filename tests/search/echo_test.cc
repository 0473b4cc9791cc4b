#include "search/echo.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/fakes/tiny_model.h"

namespace fusefarm::search {
namespace {

// Twelve tiles, the same in each round.
class TileProposer final : public Proposer {
 public:
  std::string name() const override { return "tiles"; }

  bool can_implement(const graph::Graph&) const override { return true; }

  Result<std::vector<Plan>> propose(const ProposalContext& context, int plans_max) override {
    std::vector<Plan> plans;
    for (std::int64_t tile = 0; tile < std::min(12, plans_max); ++tile) {
      Plan plan;
      Hypothesis hypothesis;
      hypothesis.family = "tile";
      hypothesis.gain_lo = hypothesis.gain_hi = 0.1;
      plan.hypotheses.push_back(hypothesis);
      Candidate candidate;
      candidate.region = context.signature;
      candidate.source = std::to_string(tile);
      candidate.schedule["tile"] = tile;
      plan.units.push_back({"whole", 0, candidate, {}});
      plans.push_back(plan);
    }
    return plans;
  }
};

EchoInputs inputs() {
  EchoInputs result;
  result.region = std::make_shared<const graph::Graph>();
  result.workload = fakes::tiny_workloads().front();
  result.share = 0.2;
  result.now_seconds = 1e-3;
  result.floor_seconds = 4e-4;
  result.search.rounds_max = 4;
  result.search.plans_per_round = 4;
  return result;
}

Outcome outcome_of(const Candidate& candidate, double gain) {
  Outcome outcome;
  outcome.candidate = candidate.digest();
  outcome.verdict = {VerdictClass::kInconclusive, "unconfirmed", "", 1};
  outcome.screen = Interval{gain, gain - 0.01, gain + 0.01};
  return outcome;
}

void run_round(Echo& echo, double gain) {
  ASSERT_TRUE(echo.peek().ok());
  for (const Candidate& candidate : echo.begin_round(100)) {
    Outcome outcome = outcome_of(candidate, gain);
    echo.observe(outcome);
  }
  echo.end_round();
}

TEST(EchoTest, ACandidateIsNeverMeasuredTwice) {
  TileProposer proposer;
  Posteriors posteriors;
  Echo echo(inputs(), {&proposer}, &posteriors);
  std::set<Digest> seen;
  std::size_t measured = 0;
  while (!echo.finished()) {
    ASSERT_TRUE(echo.peek().ok());
    for (const Candidate& candidate : echo.begin_round(100)) {
      seen.insert(candidate.digest());
      ++measured;
      Outcome outcome = outcome_of(candidate, 0.05 * echo.rounds());
      echo.observe(outcome);
    }
    echo.end_round();
  }
  EXPECT_EQ(seen.size(), measured);
  EXPECT_EQ(measured, 12U);
  EXPECT_EQ(echo.stop_reason(), "nothing new was proposed");
}

TEST(EchoTest, RoundsWithoutPromotionEndTheCell) {
  TileProposer proposer;
  Posteriors posteriors;
  Echo echo(inputs(), {&proposer}, &posteriors);
  run_round(echo, -0.1);
  EXPECT_FALSE(echo.finished());
  run_round(echo, -0.1);
  EXPECT_EQ(echo.stop_reason(), "rounds without promotion");
}

TEST(EchoTest, ARegionNearItsFloorGetsNoMoreBudget) {
  TileProposer proposer;
  Posteriors posteriors;
  Echo echo(inputs(), {&proposer}, &posteriors);
  run_round(echo, 0.9);  // 1 ms becomes 0.407 ms, the floor is 0.4 ms
  EXPECT_EQ(echo.stop_reason(), "within 5 % of its floor");
}

TEST(EchoTest, WithoutHeadroomNothingIsProposed) {
  EchoInputs full = inputs();
  full.floor_seconds = full.now_seconds;
  TileProposer proposer;
  Posteriors posteriors;
  Echo echo(full, {&proposer}, &posteriors);
  EXPECT_TRUE(echo.finished());
}

TEST(EchoTest, OutcomesAreLabelledAndTheBestLowerBoundComesFirst) {
  TileProposer proposer;
  Posteriors posteriors;
  Echo echo(inputs(), {&proposer}, &posteriors);
  ASSERT_TRUE(echo.peek().ok());
  double gain = 0.02;
  for (const Candidate& candidate : echo.begin_round(100)) {
    Outcome outcome = outcome_of(candidate, gain);
    echo.observe(outcome);
    EXPECT_EQ(outcome.causal_label, "CONFIRMED");
    gain += 0.02;
  }
  ASSERT_EQ(echo.promising().size(), 4U);
  EXPECT_DOUBLE_EQ(echo.promising().front()->screen->estimate, 0.08);
  EXPECT_NE(echo.candidate(echo.promising().front()->candidate), nullptr);
}

TEST(EchoTest, EqualInputsAndOutcomesGiveEqualRounds) {
  std::vector<std::vector<Digest>> order(2);
  for (std::vector<Digest>& list : order) {
    TileProposer proposer;
    Posteriors posteriors;
    Echo echo(inputs(), {&proposer}, &posteriors);
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(echo.peek().ok());
      for (const Candidate& candidate : echo.begin_round(100)) {
        list.push_back(candidate.digest());
        Outcome outcome = outcome_of(candidate, 0.03);
        echo.observe(outcome);
      }
      echo.end_round();
    }
  }
  EXPECT_EQ(order[0], order[1]);
}

}  // namespace
}  // namespace fusefarm::search
