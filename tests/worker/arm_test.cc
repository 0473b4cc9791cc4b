#include "worker/arm.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/worker/arm_fixture.h"

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

class ArmTest : public ArmFixture {
 protected:
  // How a launch of a candidate with this body ends.
  std::optional<Verdict> end_of(const std::string& body, Duration deadline = 10s) {
    std::optional<ArmProcess> arm = start(body);
    return arm ? arm->launch(0, 1, deadline).fault : std::nullopt;
  }
};

TEST_F(ArmTest, ACandidateComputesOnAllRowsOfBoundaryMemory) {
  auto arm = start("for (int c = 0; c < args->dims[0]; ++c) y[c] = 2 * x[c] + 1;");
  ASSERT_TRUE(arm.has_value());
  EXPECT_TRUE(arm->report().filtered);
  const SlotEnd end = arm->launch(0, 3, 10s);
  ASSERT_FALSE(end.fault.has_value()) << end.fault->detail;
  EXPECT_GT(end.elapsed, 0ns);
  for (int i = 0; i < kRows * kColumns; ++i) {
    ASSERT_EQ(y()[i], 2 * x()[i] + 1) << i;
  }
  EXPECT_FALSE(arm->poison(1, 1s).fault.has_value());
  arm->stop();
}

TEST_F(ArmTest, StartAndLoadTakeLessThanATenthOfASecond) {
  Duration best = Duration::max();
  for (int i = 0; i < 5; ++i) {
    const TimePoint before = system_clock().now();
    auto arm = start("y[0] = x[0];");
    ASSERT_TRUE(arm.has_value());
    best = std::min(best, system_clock().now() - before);  // the first also compiles
  }
  RecordProperty("milliseconds", static_cast<int>(best / 1ms));
  EXPECT_LT(best, 100ms);
}

TEST_F(ArmTest, AWildWriteIsAMemoryFault) {
  const auto fault = end_of("*(volatile int*)16 = 1;");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->klass, VerdictClass::kRejectFault);
  EXPECT_EQ(fault->reason, "memory");
}

TEST_F(ArmTest, AnIllegalInstructionIsATrap) {
  const auto fault = end_of("__builtin_trap();");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->klass, VerdictClass::kRejectFault);
  EXPECT_EQ(fault->reason, "trap");
}

TEST_F(ArmTest, AnEndlessLoopIsAHangAndEndsWithTheDeadline) {
  const TimePoint before = system_clock().now();
  const auto fault = end_of("for (volatile int i = 0;; ++i) {}", 300ms);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->klass, VerdictClass::kRejectHang);
  EXPECT_LT(system_clock().now() - before, 4s);
}

TEST_F(ArmTest, ExitingIsTampering) {
  std::optional<Verdict> fault;
  auto arm = start(row_candidate("_exit(0);", "extern \"C\" void _exit(int);"), fault);
  ASSERT_TRUE(arm.has_value());
  const SlotEnd end = arm->launch(0, 1, 10s);
  ASSERT_TRUE(end.fault.has_value());
  EXPECT_EQ(end.fault->klass, VerdictClass::kRejectTamper);
}

TEST_F(ArmTest, ASystemCallIsTampering) {
  std::optional<Verdict> fault;
  auto arm = start(row_candidate("fork();", "extern \"C\" int fork();"), fault);
  ASSERT_TRUE(arm.has_value());
  const SlotEnd end = arm->launch(0, 1, 10s);
  ASSERT_TRUE(end.fault.has_value());
  EXPECT_EQ(end.fault->klass, VerdictClass::kRejectTamper);
  EXPECT_EQ(end.fault->reason, "syscall");
}

TEST_F(ArmTest, AMissingEntryIsFoundAtLoad) {
  Candidate candidate = row_candidate("");
  candidate.source = "extern \"C\" void other() {}";
  std::optional<Verdict> fault;
  const auto arm = start(candidate, fault);
  EXPECT_FALSE(arm.has_value());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->reason, "launch");
  EXPECT_NE(fault->detail.find("rows"), std::string::npos);
}

TEST_F(ArmTest, AStoppedArmLeavesNoProcess) {
  auto arm = start("y[0] = x[0];");
  ASSERT_TRUE(arm.has_value());
  const pid_t pid = arm->pid();
  arm->stop();
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace fusefarm::worker
