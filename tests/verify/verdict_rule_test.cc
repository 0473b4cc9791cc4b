#include "verify/verdict_rule.h"

#include <cmath>

#include <gtest/gtest.h>

namespace fusefarm::verify {
namespace {

PairedMeasurement measured(const std::string& stage, double speedup, int blocks, int quads) {
  PairedMeasurement measurement{stage, {}};
  for (int b = 0; b < blocks; ++b) {
    Block block;
    for (int q = 0; q < quads; ++q) {
      Quad quad;
      for (int i = 0; i < 4; ++i) {
        const bool candidate = i == 1 || i == 2;
        const double jitter = 1 + 0.001 * ((q * 4 + i) % 5);
        quad.slots[i] = {candidate ? Arm::kCandidate : Arm::kIncumbent,
                         static_cast<std::int64_t>(2e7 * jitter / (candidate ? speedup : 1)), 10};
      }
      block.quads.push_back(quad);
    }
    measurement.blocks.push_back(block);
  }
  return measurement;
}

Outcome outcome_with(double screen, double confirm) {
  Outcome outcome;
  CorrectnessRecord record;
  record.ok = true;
  outcome.correctness = {record};
  outcome.measurements.push_back(measured("screen", screen, 1, 12));
  if (confirm > 0) {
    outcome.measurements.push_back(measured("confirm", confirm, 3, 16));
  }
  return outcome;
}

const VerdictPolicy kPolicy = verdict_policy({}, 0);

TEST(VerdictRuleTest, ImprovedNeedsAConfirmedGain) {
  EXPECT_EQ(judge_outcome(outcome_with(1.2, 1.2), kPolicy).klass, VerdictClass::kImproved);
  EXPECT_EQ(judge_outcome(outcome_with(1.2, 1.0), kPolicy).klass, VerdictClass::kNoGain);
  const Verdict unconfirmed = judge_outcome(outcome_with(1.2, 0), kPolicy);
  EXPECT_EQ(unconfirmed.klass, VerdictClass::kInconclusive);
  EXPECT_EQ(unconfirmed.reason, "unconfirmed");
  EXPECT_EQ(judge_outcome(outcome_with(0.9, 0), kPolicy).klass, VerdictClass::kNoGain);
}

TEST(VerdictRuleTest, AWrongResultOutweighsAnyGain) {
  Outcome outcome = outcome_with(2, 2);
  CorrectnessRecord bad;
  bad.failure = "tail";
  outcome.correctness.push_back(bad);
  const Verdict verdict = judge_outcome(outcome, kPolicy);
  EXPECT_EQ(verdict.klass, VerdictClass::kRejectWrong);
  EXPECT_EQ(verdict.reason, "tail");
}

TEST(VerdictRuleTest, NothingIsImprovedWithoutACorrectnessRecord) {
  Outcome outcome = outcome_with(2, 2);
  outcome.correctness.clear();
  EXPECT_EQ(judge_outcome(outcome, kPolicy).klass, VerdictClass::kInconclusive);
}

TEST(VerdictRuleTest, FasterThanTheCompulsoryTrafficIsSuspect) {
  VerdictPolicy policy = kPolicy;
  policy.floor_seconds = 2.0e-3;  // a launch of the candidate takes 1.7 ms
  EXPECT_EQ(judge_outcome(outcome_with(1.2, 1.2), policy).klass, VerdictClass::kImproved);
  policy.floor_seconds = 2.5e-3;
  EXPECT_EQ(judge_outcome(outcome_with(1.2, 1.2), policy).klass, VerdictClass::kSuspect);
}

TEST(VerdictRuleTest, WhatNoSampleExplainsIsKept) {
  Outcome outcome;
  outcome.verdict = {VerdictClass::kRejectBuild, "timeout", "60 s", 1};
  EXPECT_EQ(judge_outcome(outcome, kPolicy).klass, VerdictClass::kRejectBuild);
  EXPECT_EQ(judge_outcome(outcome, kPolicy).reason, "timeout");
}

TEST(PhysicalFloorTest, WeightsBeyondTheCacheComeFromMemory) {
  graph::Cost cost;
  cost.weight_bytes = 300 << 20;
  cost.bytes_read = 1 << 20;
  cost.flops = 1e9;
  const Roofs roofs{30e9, 300e9, 32 << 20, 100e9};
  EXPECT_NEAR(physical_floor_seconds(cost, roofs), (300 << 20) / 30e9 + (1 << 20) / 300e9, 1e-9);
  cost.weight_bytes = 1 << 20;
  EXPECT_NEAR(physical_floor_seconds(cost, roofs), 1e9 / 100e9, 1e-9);
  EXPECT_EQ(physical_floor_seconds(cost, {}), 0);
}

}  // namespace
}  // namespace fusefarm::verify
