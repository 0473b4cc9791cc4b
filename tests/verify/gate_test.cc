#include "verify/gate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "verify/statistics.h"

namespace fusefarm::verify {
namespace {

// Slots as on a shared CPU: spread of single slots, drift, and a bias of each process.
struct Noise {
  double slot = 0.05, drift = 0.02, process = 0;
};

Quad noisy_quad(Random& random, double gain, const Noise& noise, double bias, double& drift) {
  Quad quad;
  const bool abba = random.coin();
  for (int i = 0; i < 4; ++i) {
    const bool outer = i == 0 || i == 3;
    Slot& slot = quad.slots[i];
    slot.arm = outer == abba ? Arm::kIncumbent : Arm::kCandidate;
    drift = 0.95 * drift + noise.drift * random.normal();
    double log_time = drift + noise.slot * random.normal();
    if (random.below(50) == 0) {
      log_time += 0.2 * random.uniform();  // interrupted
    }
    if (slot.arm == Arm::kCandidate) {
      log_time += bias - gain;
    }
    slot.nanoseconds = static_cast<std::int64_t>(2e7 * std::exp(log_time));
    slot.launches = 10;
  }
  return quad;
}

// Runs a gate to its end; a new block, with new processes, every 6 quads.
GateDecision run_gate(std::uint64_t seed, double gain, const Noise& noise,
                      const GatePolicy& policy) {
  Random random = Random::keyed(seed, "gate");
  PairedMeasurement measurement;
  double drift = 0;
  double bias = 0;
  for (int quad = 0;; ++quad) {
    if (quad % 6 == 0) {
      measurement.blocks.emplace_back();
      bias = noise.process * random.normal();
    }
    measurement.blocks.back().quads.push_back(noisy_quad(random, gain, noise, bias, drift));
    const GateDecision decision = decide(measurement, policy);
    if (decision.step != GateStep::kContinue) {
      return decision;
    }
  }
}

int count_passes(int runs, double gain, const Noise& noise, const GatePolicy& policy) {
  int passes = 0;
  for (int i = 0; i < runs; ++i) {
    passes +=
        run_gate(static_cast<std::uint64_t>(i) + 1, gain, noise, policy).step == GateStep::kPass;
  }
  return passes;
}

TEST(GateSimulationTest, IdenticalArmsPassNoMoreOftenThanDeclared) {
  GatePolicy policy = screen_policy({});
  policy.threshold = 0;  // the boundary of H0, where the declared rate applies
  constexpr int kRuns = 3000;
  EXPECT_LE(count_passes(kRuns, 0, {}, policy), kRuns * policy.alpha);
}

TEST(GateSimulationTest, AGainOfExactlyTheMinimumPassesNoMoreOftenThanDeclared) {
  const GatePolicy policy = confirm_policy({});
  constexpr int kRuns = 2000;
  EXPECT_LE(count_passes(kRuns, policy.threshold, {}, policy), kRuns * 2 * policy.alpha);
}

TEST(GateSimulationTest, IdenticalArmsDoNotPassTheConfirmationEvenWithProcessBias) {
  EXPECT_LE(count_passes(1000, 0, {0.03, 0.02, 0.006}, confirm_policy({})), 1);
}

TEST(GateSimulationTest, FivePercentPassScreenAndConfirmation) {
  EXPECT_GE(count_passes(500, 0.05, {0.02, 0.01, 0.002}, screen_policy({})), 475);
  EXPECT_GE(count_passes(500, 0.05, {0.02, 0.01, 0.002}, confirm_policy({})), 475);
}

TEST(GateSimulationTest, ALossStopsEarlyAsNoGain) {
  int quads = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const GateDecision decision = run_gate(seed, -0.05, {0.02, 0.01, 0}, screen_policy({}));
    EXPECT_EQ(decision.step, GateStep::kNoGain);
    quads += decision.quads;
  }
  EXPECT_LE(quads, 200 * 12);
}

TEST(GateSimulationTest, IntervalsCoverTheTruthAtLeastAsOftenAsDeclared) {
  int covered = 0;
  constexpr int kRuns = 1000;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const Interval interval = run_gate(seed, 0.03, {0.04, 0.02, 0}, confirm_policy({})).interval;
    covered += interval.lo <= 0.03 && 0.03 <= interval.hi;
    EXPECT_LE(interval.lo, interval.estimate);
    EXPECT_LE(interval.estimate, interval.hi);
  }
  EXPECT_GE(covered, 950);
}

TEST(GateSimulationTest, NonInferiorityPassesEqualArmsAndStopsRegressions) {
  const GatePolicy policy = non_inferiority_policy(0.01);
  const Noise quiet{0.01, 0.005, 0};
  EXPECT_GE(count_passes(300, 0, quiet, policy), 270);
  EXPECT_LE(count_passes(300, -0.03, quiet, policy), 3);
}

PairedMeasurement with_discards(int quads, int kept_one_in) {
  Random random(3);
  PairedMeasurement measurement;
  measurement.blocks.emplace_back();
  double drift = 0;
  for (int i = 0; i < quads; ++i) {
    measurement.blocks[0].quads.push_back(noisy_quad(random, 0.5, {}, 0, drift));
    measurement.blocks[0].quads.back().discarded = i % kept_one_in != 0;
  }
  return measurement;
}

TEST(GateTest, ABusyHostIsSaidWhateverTheRestSays) {
  const GateDecision decision = decide(with_discards(40, 8), screen_policy({}));
  EXPECT_EQ(decision.step, GateStep::kInconclusive);
  EXPECT_TRUE(decision.host_busy);
}

TEST(GateTest, DiscardsCostQuadsAndNothingElse) {
  const GateDecision decision = decide(with_discards(40, 2), screen_policy({}));
  EXPECT_EQ(decision.step, GateStep::kPass);
  EXPECT_EQ(decision.quads, 20);
  EXPECT_FALSE(decision.host_busy);
}

TEST(GateTest, APassNeedsBlocksOfFreshProcesses) {
  Random random(3);
  PairedMeasurement measurement;
  measurement.blocks.emplace_back();
  double drift = 0;
  for (int i = 0; i < 40; ++i) {
    measurement.blocks[0].quads.push_back(noisy_quad(random, 0.5, {}, 0, drift));
  }
  EXPECT_EQ(decide(measurement, confirm_policy({})).step, GateStep::kContinue);
  measurement.blocks.push_back(measurement.blocks[0]);
  EXPECT_EQ(decide(measurement, confirm_policy({})).step, GateStep::kPass);
}

TEST(StatisticsTest, TheEValueIsTheIntegralThatDefinesIt) {
  for (const auto& [n, k] : {std::pair{6, 6}, {12, 9}, {40, 20}, {90, 80}}) {
    double integral = 0;
    constexpr int kSteps = 200'000;
    for (int i = 0; i < kSteps; ++i) {
      const double p = 0.5 + 0.5 * (i + 0.5) / kSteps;
      integral += std::pow(2 * p, k) * std::pow(2 * (1 - p), n - k) * 0.5 / kSteps;
    }
    EXPECT_NEAR(log_sign_e_value(n, k), std::log(2 * integral), 1e-6) << n << " " << k;
  }
  // Fewest unanimous quads at 5, 1, 0.1 %.
  EXPECT_LT(log_sign_e_value(6, 6), std::log(20));
  EXPECT_GE(log_sign_e_value(7, 7), std::log(20));
  EXPECT_GE(log_sign_e_value(13, 13), std::log(1000));
}

TEST(StatisticsTest, QuadsCancelLinearDrift) {
  Quad quad;
  const Arm arms[] = {Arm::kIncumbent, Arm::kCandidate, Arm::kCandidate, Arm::kIncumbent};
  for (int i = 0; i < 4; ++i) {
    quad.slots[i] = {arms[i], static_cast<std::int64_t>(1e9 * std::exp(0.1 * i)), 1};
  }
  EXPECT_NEAR(quad_log_ratio(quad), 0, 1e-8);
}

TEST(StatisticsTest, CombinedSpeedupWeighsByTime) {
  const WeightedInterval parts[] = {{0.8, {std::log(2.0), std::log(1.8), std::log(2.2)}},
                                    {0.2, {0, -0.01, 0.01}}};
  const Interval whole = combine(parts);
  EXPECT_NEAR(whole.estimate, -std::log(0.8 / 2 + 0.2), 1e-12);
  EXPECT_GT(whole.lo, std::log(1.5));
  EXPECT_LT(whole.hi, std::log(2.0));
}

TEST(StatisticsTest, MediansAndTheIncompleteBetaFunction) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  const double values[] = {1, 2, 10};
  EXPECT_DOUBLE_EQ(hodges_lehmann(values), 3.75);
  EXPECT_NEAR(incomplete_beta(2, 3, 0.4), 0.5248, 1e-10);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.3), 2 / M_PI * std::asin(std::sqrt(0.3)), 1e-12);
}

}  // namespace
}  // namespace fusefarm::verify
