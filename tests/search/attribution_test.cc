#include "search/attribution.h"

#include <gtest/gtest.h>

namespace fusefarm::search {
namespace {

Outcome screened(double lo, double estimate, double hi) {
  Outcome outcome;
  outcome.verdict = {VerdictClass::kNoGain, "", "", 1};
  outcome.screen = Interval{estimate, lo, hi};
  return outcome;
}

AttributionInputs inputs() {
  AttributionInputs result;
  result.headroom = 0.5;
  result.family_attempts = 1;
  return result;
}

TEST(AttributionTest, AGainBeyondTheMarginConfirmsTheHypothesis) {
  EXPECT_EQ(attribute(screened(0.03, 0.05, 0.07), inputs()), Label::kConfirmed);
}

TEST(AttributionTest, InfrastructureTeachesNothing) {
  Outcome outcome = screened(0.03, 0.05, 0.07);
  outcome.verdict.klass = VerdictClass::kInfra;
  EXPECT_EQ(attribute(outcome, inputs()), Label::kNone);
  Posteriors posteriors;
  learn(posteriors, Label::kNone, "h", "i");
  EXPECT_TRUE(posteriors.counts().empty());
}

TEST(AttributionTest, AWrongImplementationLeavesItsHypothesisUntested) {
  Outcome outcome;
  outcome.verdict.klass = VerdictClass::kRejectWrong;
  EXPECT_EQ(attribute(outcome, inputs()), Label::kImplInvalid);
  Posteriors posteriors;
  learn(posteriors, Label::kImplInvalid, "h", "i");
  EXPECT_FALSE(posteriors.counts().contains("h"));
  EXPECT_DOUBLE_EQ(posteriors.counts().at("i").beta, 1);
}

TEST(AttributionTest, AnIntervalAcrossTheMarginDecidesNothing) {
  EXPECT_EQ(attribute(screened(-0.02, 0.01, 0.04), inputs()), Label::kInconclusive);
}

TEST(AttributionTest, AScreenThatABusyHostVoidedBlamesNobody) {
  Outcome outcome = screened(0, 0, 0);
  outcome.verdict.klass = VerdictClass::kInconclusive;
  EXPECT_EQ(attribute(outcome, inputs()), Label::kInconclusive);
}

TEST(AttributionTest, OneSlowImplementationIsHeldAgainstTheImplementation) {
  EXPECT_EQ(attribute(screened(-0.2, -0.18, -0.15), inputs()), Label::kImplInefficient);
  EXPECT_EQ(attribute(screened(-0.004, 0.001, 0.005), inputs()), Label::kImplInefficient);
}

TEST(AttributionTest, ThreeCorrectImplementationsWithoutEffectMakeItIneffective) {
  AttributionInputs repeated = inputs();
  repeated.family_attempts = 3;
  EXPECT_EQ(attribute(screened(-0.004, 0.001, 0.005), repeated), Label::kIneffective);
  repeated.family_gained = true;
  EXPECT_EQ(attribute(screened(-0.004, 0.001, 0.005), repeated), Label::kImplInefficient);
}

TEST(AttributionTest, WithoutHeadroomNobodyIsBlamed) {
  AttributionInputs full = inputs();
  full.headroom = 0.001;
  EXPECT_EQ(attribute(screened(-0.004, 0.001, 0.005), full), Label::kNoHeadroom);
}

}  // namespace
}  // namespace fusefarm::search
