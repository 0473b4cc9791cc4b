#include <chrono>
#include <condition_variable>
#include <mutex>

#include <signal.h>

#include "base/time.h"
#include "tests/e2e/run_fixture.h"

namespace fusefarm::e2e {
namespace {

using RunTest = RunFixture;

constexpr const char* kSmallSearch =
    "phases: 2, proposers: [builtin], seed: 1, regions_per_phase: 3, plans_per_round: 3,"
    " rounds: 1, budget: {seconds: 60}";

void expect_whole_report(const nlohmann::json& report) {
  ASSERT_TRUE(report.is_object());
  // Without a number only where a busy host voided the samples, and then it says so.
  const nlohmann::json& speedup = report["end_to_end"]["speedup"];
  EXPECT_TRUE(speedup.is_object() ? speedup["estimate"].is_number()
                                  : report["verdicts"].contains("INFRA"))
      << report.dump();
  EXPECT_FALSE(report["phases"].empty());
  EXPECT_GT(report["experiments"]["total"].get<int>(), 0);
  EXPECT_FALSE(report["baseline"]["library"].empty());
  for (const nlohmann::json& workload : report["end_to_end"]["workloads"]) {
    EXPECT_TRUE(workload["values_ok"].get<bool>());
  }
  for (const nlohmann::json& rewrite : report["rewrites"]) {
    EXPECT_TRUE(rewrite["boundary"]["ok"].get<bool>());
    EXPECT_TRUE(rewrite["integration"]["ok"].get<bool>());
    EXPECT_GT(rewrite["confirmation"]["lo"].get<double>(), 1.0);
  }
}

TEST_F(RunTest, ACampaignEndsWithAReportAndRunAgainExecutesNothing) {
  const std::string file = campaign(kSmallSearch);
  const Ended first = fusefarm({"run", file, "--progress", "plain"}, folder_);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.out.find("end to end:"), std::string::npos);
  expect_whole_report(report());
  const nlohmann::json before = report();

  const Ended second = fusefarm({"run", file, "-o", "json"}, folder_);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  const nlohmann::json printed = nlohmann::json::parse(second.out);
  EXPECT_EQ(printed["rewrites"], before["rewrites"]);
  // What a busy host voided is measured again; everything else is known.
  if (!before["verdicts"].contains("INFRA")) {
    EXPECT_EQ(printed["experiments"]["executed"], 0);
    EXPECT_EQ(printed["end_to_end"], before["end_to_end"]);
  }
}

TEST_F(RunTest, ACampaignKilledMidwayLeavesNoChildAndTheSameCommandFinishesIt) {
  const std::string file = campaign(kSmallSearch);
  {
    Program program({"run", file, "--progress", "plain"}, folder_);
    // Somewhere in the search: the first candidates are being compiled.
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    const auto deadline = system_clock().now() + std::chrono::seconds(120);
    while (program.errors_so_far().find("candidates") == std::string::npos &&
           system_clock().now() < deadline) {
      never.wait_for(lock, std::chrono::milliseconds(100));
    }
    never.wait_for(lock, std::chrono::seconds(2));
    program.signal(SIGKILL);
    program.wait(10);
    const auto gone_by = system_clock().now() + std::chrono::seconds(10);
    while (process_with(folder_) && system_clock().now() < gone_by) {
      never.wait_for(lock, std::chrono::milliseconds(100));
    }
    EXPECT_FALSE(process_with(folder_));
  }
  const Ended resumed = fusefarm({"run", file, "--progress", "plain"}, folder_);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_whole_report(report());
}

TEST_F(RunTest, CtrlCEndsResumably) {
  const std::string file = campaign(kSmallSearch);
  Program program({"run", file, "--progress", "plain"}, folder_);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  never.wait_for(lock, std::chrono::seconds(5));
  program.signal(SIGINT);
  const Ended stopped = program.wait(60);
  EXPECT_EQ(stopped.exit_code, 5) << stopped.err;
  EXPECT_NE(stopped.err.find("resumes"), std::string::npos);
  const Ended resumed = fusefarm({"run", file, "--progress", "none"}, folder_);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(RunTest, TheControlFindsNothing) {
  const std::string file = campaign(
      "phases: 2, proposers: [noop], seed: 1, regions_per_phase: 3, budget: {seconds: 60}");
  const Ended ended = fusefarm({"run", file, "--fail-on-no-gain", "--progress", "none"}, folder_);
  EXPECT_EQ(ended.exit_code, 10) << ended.err;
  const nlohmann::json found = report();
  ASSERT_TRUE(found.is_object());
  EXPECT_TRUE(found["rewrites"].empty());
  const nlohmann::json& speedup = found["end_to_end"]["speedup"];
  if (speedup.is_object()) {
    EXPECT_LT(speedup["lo"].get<double>(), 1.0);
    EXPECT_GT(speedup["hi"].get<double>(), 1.0);
  } else {
    EXPECT_TRUE(found["verdicts"].contains("INFRA")) << found.dump();
  }
}

}  // namespace
}  // namespace fusefarm::e2e
