#include "records/outcome_json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "records/measurement_json.h"

namespace fusefarm {
namespace {

PairedMeasurement sample_measurement() {
  Quad quad;
  for (int i = 0; i < 4; ++i) {
    quad.slots[i] =
        Slot{i == 0 || i == 3 ? Arm::kIncumbent : Arm::kCandidate, 5'000'000'000 + i, 16};
  }
  Quad discarded = quad;
  discarded.discarded = true;
  discarded.discard_reason = "cotenant";
  return {"screen", {Block{false, {quad, discarded}}, Block{true, {}}}};
}

Outcome sample_outcome() {
  Outcome outcome;
  outcome.experiment = ExperimentId{42};
  outcome.region = digest_of("r");
  outcome.workload = "decode-8";
  outcome.candidate = digest_of("c");
  outcome.family = "rowwise";
  outcome.verdict = {VerdictClass::kRejectWrong, "numeric", "element 3: \"1\" not 2", 4};
  outcome.causal_label = "IMPL_INVALID";
  outcome.correctness = {{false,
                          "heavy_tail",
                          std::numeric_limits<std::uint64_t>::max(),
                          {{"y", std::numeric_limits<double>::infinity(), 0.1, 1e-300, 17, 3}},
                          "numeric",
                          "d"}};
  outcome.measurements = {sample_measurement()};
  outcome.screen = Interval{0.1, -0.0, 1.0 / 3};
  outcome.compile_seconds = 0.5;
  outcome.prepared_bytes = 1LL << 40;
  outcome.device_class = "cpu:x:2";
  outcome.toolchain = "g++ 12";
  outcome.isolation = "full";
  return outcome;
}

TEST(OutcomeJsonTest, RoundTripIsExact) {
  const Outcome outcome = sample_outcome();
  const Result<Outcome> read = outcome_from_json(to_json(outcome));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(outcome));
  EXPECT_EQ(read->experiment, outcome.experiment);
  EXPECT_EQ(read->verdict.klass, VerdictClass::kRejectWrong);
  EXPECT_EQ(read->verdict.rule_version, 4);
  EXPECT_EQ(read->correctness[0].seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(std::isinf(read->correctness[0].outputs[0].worst_over_bound));
  EXPECT_EQ(read->correctness[0].outputs[0].relative_norm_limit, 1e-300);
  EXPECT_EQ(read->screen->hi, 1.0 / 3);
  EXPECT_TRUE(std::signbit(read->screen->lo));
  EXPECT_FALSE(read->confirmation.has_value());
  EXPECT_EQ(read->prepared_bytes, 1LL << 40);
}

TEST(OutcomeJsonTest, MeasurementKeepsEverySlot) {
  const PairedMeasurement measurement = sample_measurement();
  const Result<PairedMeasurement> read = measurement_from_json(to_json(measurement));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->blocks.size(), 2U);
  EXPECT_FALSE(read->blocks[0].incumbent_loaded_first);
  EXPECT_TRUE(read->blocks[1].incumbent_loaded_first);
  ASSERT_EQ(read->blocks[0].quads.size(), 2U);
  const Quad& quad = read->blocks[0].quads[1];
  EXPECT_TRUE(quad.discarded);
  EXPECT_EQ(quad.discard_reason, "cotenant");
  EXPECT_EQ(quad.slots[2].arm, Arm::kCandidate);
  EXPECT_EQ(quad.slots[3].nanoseconds, 5'000'000'003);
  EXPECT_EQ(quad.slots[3].launches, 16);
}

TEST(OutcomeJsonTest, NotANumberSurvivesAsSuch) {
  const Result<Interval> read = interval_from_json(to_json(Interval{std::nan(""), -1, 1}));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(std::isnan(read->estimate));
}

TEST(OutcomeJsonTest, EveryVerdictClassRoundTrips) {
  for (int i = 0; i <= static_cast<int>(VerdictClass::kCancelled); ++i) {
    const Verdict verdict{static_cast<VerdictClass>(i), "r", "d", 1};
    const Result<Verdict> read = verdict_from_json(to_json(verdict));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->klass, verdict.klass);
  }
}

TEST(OutcomeJsonTest, UnknownVerdictClassIsRefused) {
  const Result<Verdict> read =
      verdict_from_json(R"({"class":"GREAT","detail":"","reason":"","rule_version":1})");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "verdict: 'GREAT' is no verdict class");
}

TEST(OutcomeJsonTest, AQuadOfThreeSlotsIsRefused) {
  const Result<PairedMeasurement> read = measurement_from_json(
      R"({"stage":"s","blocks":[{"incumbent_loaded_first":true,"quads":[{"arms":"ICC",)"
      R"("ns":[1,2,3],"launches":[1,1,1],"discarded":false,"discard_reason":""}]}]})");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("blocks[0].quads[0]"), std::string::npos);
}

TEST(OutcomeJsonTest, TextThatIsNotUtf8IsWrittenAsValidJson) {
  Outcome outcome = sample_outcome();
  outcome.verdict.detail = "bad \xff byte";
  const Result<Outcome> read = outcome_from_json(to_json(outcome));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->verdict.detail, "bad \xEF\xBF\xBD byte");
}

}  // namespace
}  // namespace fusefarm
