#include "coordinator/in_process_transport.h"

#include <atomic>

#include <gtest/gtest.h>

#include "coordinator/job_runner.h"

namespace fusefarm::coordinator {
namespace {

using std::chrono_literals::operator""s;

// Reports progress until it is told to stop or has said enough.
class CountingHandler final : public JobHandler {
 public:
  explicit CountingHandler(int steps) : steps_(steps) {}

  Result<JobResult> run(const Job&, const std::function<void(TransportEvent)>& report,
                        const std::function<bool()>& cancelled, LeaseId lease) override {
    ++started;
    for (int i = 0; steps_ < 0 || i < steps_; ++i) {
      if (cancelled()) {
        return Error{ErrorCode::kCancelled, "cancelled"};
      }
      if (i < 100) {
        report({lease, JobProgress{"step", std::to_string(i)}});
      }
    }
    return JobResult(ScreenResult{});
  }

  std::atomic<int> started = 0;

 private:
  int steps_;  // negative: until cancelled
};

TEST(InProcessTransportTest, EventsArriveInOrderAndTheResultLast) {
  CountingHandler handler(50);
  InProcessTransport transport(handler);
  for (std::uint64_t job = 1; job <= 20; ++job) {
    ASSERT_TRUE(transport.submit(LeaseId{job}, ProfileJob{}).ok());
    int next = 0;
    while (true) {
      std::optional<TransportEvent> event = transport.wait(10s);
      ASSERT_TRUE(event.has_value());
      EXPECT_EQ(event->lease, LeaseId{job});
      if (const auto* progress = std::get_if<JobProgress>(&event->what)) {
        EXPECT_EQ(progress->detail, std::to_string(next++));
        continue;
      }
      EXPECT_TRUE(std::get<Result<JobResult>>(event->what).ok());
      break;
    }
    EXPECT_EQ(next, 50);
  }
}

TEST(InProcessTransportTest, ACancelledJobEndsWithItsEvent) {
  CountingHandler handler(-1);
  InProcessTransport transport(handler);
  ASSERT_TRUE(transport.submit(LeaseId{1}, ProfileJob{}).ok());
  transport.cancel(LeaseId{1});
  while (true) {
    std::optional<TransportEvent> event = transport.wait(10s);
    ASSERT_TRUE(event.has_value());
    if (const auto* ended = std::get_if<Result<JobResult>>(&event->what)) {
      ASSERT_FALSE(ended->ok());
      EXPECT_EQ(ended->error().code, ErrorCode::kCancelled);
      break;
    }
  }
}

TEST(InProcessTransportTest, DestructionStopsARunningJob) {
  CountingHandler handler(-1);
  {
    InProcessTransport transport(handler);
    ASSERT_TRUE(transport.submit(LeaseId{1}, ProfileJob{}).ok());
    ASSERT_TRUE(transport.wait(10s).has_value());
  }
  EXPECT_EQ(handler.started, 1);
}

TEST(JobRunnerTest, ATimeLimitCutsTheJobAndSaysSo) {
  CountingHandler handler(-1);
  InProcessTransport transport(handler);
  JobRunner jobs(transport, system_clock(), [] { return false; });
  const Result<JobRun> run = jobs.run(ProfileJob{}, {}, 0.05);
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->result.has_value());
  EXPECT_GE(run->seconds, 0.05);
}

TEST(JobRunnerTest, AStopRequestIsNotATimeLimit) {
  CountingHandler handler(-1);
  InProcessTransport transport(handler);
  JobRunner jobs(transport, system_clock(), [&] { return handler.started > 0; });
  const Result<JobRun> run = jobs.run(ProfileJob{}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace fusefarm::coordinator
