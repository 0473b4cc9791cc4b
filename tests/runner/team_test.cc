#include "runner/team.h"

#include <atomic>

#include <gtest/gtest.h>

namespace fusefarm::runner {
namespace {

TEST(TeamTest, EveryThreadRunsTheTaskOnceARound) {
  auto team = Team::start(3, {}).take();
  std::vector<std::atomic<int>> counts(3);
  for (int round = 0; round < 100; ++round) {
    team->run([&](int thread) { ++counts[static_cast<std::size_t>(thread)]; });
  }
  for (const auto& count : counts) {
    EXPECT_EQ(count.load(), 100);
  }
}

TEST(TeamTest, TheBarrierLetsNobodyAheadOfTheSlowest) {
  constexpr int kThreads = 3;
  constexpr int kSteps = 500;
  auto team = Team::start(kThreads, {}).take();
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  team->run([&](int) {
    for (int step = 1; step <= kSteps; ++step) {
      arrived.fetch_add(1);
      team->barrier().arrive_and_wait();
      if (arrived.load() < step * kThreads) {
        early.fetch_add(1);
      }
      team->barrier().arrive_and_wait();
    }
  });
  EXPECT_EQ(early.load(), 0);
  EXPECT_EQ(arrived.load(), kThreads * kSteps);
}

TEST(TeamTest, WorkOfOneThreadIsSeenByAllAfterTheBarrier) {
  auto team = Team::start(2, {}).take();
  int value = 0;  // plain: the barrier alone orders it
  int wrong = 0;
  team->run([&](int thread) {
    for (int i = 1; i <= 1000; ++i) {
      if (thread == i % 2) {
        value = i;
      }
      team->barrier().arrive_and_wait();
      if (thread == 0 && value != i) {
        ++wrong;
      }
      team->barrier().arrive_and_wait();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(TeamTest, ACoreThatDoesNotExistIsAnError) {
  const auto team = Team::start(1, {1023});
  ASSERT_FALSE(team.ok());
  EXPECT_EQ(team.error().code, ErrorCode::kEnvironment);
}

}  // namespace
}  // namespace fusefarm::runner
