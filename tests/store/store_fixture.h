// A store in a folder of its own, and small values to put into it.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/store.h"

namespace fusefarm::store {

// Counts milliseconds from call to call: what is written does not depend on the time of day.
class CountingClock : public Clock {
 public:
  TimePoint now() const override { return {}; }

  std::int64_t wall_ms() const override { return ++ms_; }

 private:
  mutable std::int64_t ms_ = 1000;
};

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "fusefarm-store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/history.db"; }

  std::unique_ptr<Store> open(const StoreOptions& options = {}) {
    Result<std::unique_ptr<Store>> store = Store::open(path(), clock_, options);
    EXPECT_TRUE(store.ok()) << store.error().message;
    return store.ok() ? store.take() : nullptr;
  }

  std::string folder_;
  CountingClock clock_;
};

inline CampaignSpec sample_spec(const std::string& name = "c") {
  CampaignSpec spec;
  spec.name = name;
  spec.workloads = {{"decode-8", graph::Phase::kDecode, 8, 256, 8, 1}};
  return spec;
}

inline Candidate numbered_candidate(int number) {
  Candidate candidate;
  candidate.region = digest_of("region");
  candidate.source = "// " + std::to_string(number);
  candidate.origin = "builtin";
  candidate.family = "rowwise";
  return candidate;
}

inline ExperimentKey sample_key(const Candidate& candidate,
                                ExperimentKind kind = ExperimentKind::kScreen) {
  ExperimentKey key;
  key.kind = kind;
  key.region = candidate.region;
  key.workload = sample_spec().workloads[0];
  key.candidate = candidate.digest();
  key.device_class = "cpu:x:2";
  key.toolchain = "g++ 12";
  key.protocol = "gate 1";
  return key;
}

inline PairedMeasurement sample_measurement(const std::string& stage) {
  Quad quad;
  for (int i = 0; i < 4; ++i) {
    quad.slots[i] = Slot{i % 3 == 0 ? Arm::kIncumbent : Arm::kCandidate, 1'000'000 + i, 8};
  }
  Quad discarded = quad;
  discarded.discarded = true;
  discarded.discard_reason = "cotenant";
  discarded.slots[0].nanoseconds = 1LL << 40;
  return {stage, {Block{true, {quad, quad}}, Block{false, {discarded}}}};
}

inline Outcome sample_outcome(const Candidate& candidate,
                              VerdictClass klass = VerdictClass::kNoGain) {
  Outcome outcome;
  outcome.region = candidate.region;
  outcome.workload = "decode-8";
  outcome.candidate = candidate.digest();
  outcome.family = candidate.family;
  outcome.verdict = {klass, "r", "d", 1};
  outcome.causal_label = "INEFFECTIVE";
  outcome.measurements = {sample_measurement("screen"), sample_measurement("confirm")};
  outcome.screen = Interval{0.1, 0.05, 0.15};
  outcome.device_class = "cpu:x:2";
  return outcome;
}

// Shorthand for calls that must work.
template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.take();
}

inline void must(const Result<void>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
}

}  // namespace fusefarm::store
