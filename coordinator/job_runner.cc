#include "coordinator/job_runner.h"

#include <utility>
#include <variant>

namespace fusefarm::coordinator {
namespace {

// Slow, so that the coordinator doesn't disturb a timing device.
constexpr Duration kPoll = std::chrono::milliseconds(500);

}  // namespace

JobRunner::JobRunner(Transport& transport, const Clock& clock, std::function<bool()> stop_requested)
    : transport_(transport), clock_(clock), stop_requested_(std::move(stop_requested)) {}

Result<JobRun> JobRunner::run(Job job, const Handlers& handlers, double limit_seconds) {
  if (stop_requested_()) {
    return Error{ErrorCode::kCancelled, "stop requested"};
  }
  const LeaseId lease{next_lease_++};
  const TimePoint start = clock_.now();
  TRY(transport_.submit(lease, std::move(job)));
  std::optional<Error> failure;  // ours: the job is being cancelled because of it
  bool cut = false;
  while (true) {
    std::optional<TransportEvent> event = transport_.wait(kPoll);
    if (!failure && !cut) {
      if (stop_requested_()) {
        failure = Error{ErrorCode::kCancelled, "stop requested"};
      } else if (seconds(clock_.now() - start) > limit_seconds) {
        cut = true;
      }
      if (failure || cut) {
        transport_.cancel(lease);
      }
    }
    if (!event || event->lease != lease) {
      continue;
    }
    if (auto* progress = std::get_if<JobProgress>(&event->what)) {
      if (handlers.on_progress) {
        handlers.on_progress(*progress);
      }
    } else if (auto* outcome = std::get_if<Outcome>(&event->what)) {
      if (!handlers.on_outcome || failure) {
        continue;
      }
      const Result<void> handled = handlers.on_outcome(std::move(*outcome));
      if (!handled.ok()) {
        failure = handled.error();
        transport_.cancel(lease);
      }
    } else {
      auto& ended = std::get<Result<JobResult>>(event->what);
      const double took = seconds(clock_.now() - start);
      if (failure) {
        return *failure;
      }
      if (ended.ok()) {
        return JobRun{ended.take(), took};
      }
      if (cut && ended.error().code == ErrorCode::kCancelled) {
        return JobRun{std::nullopt, took};
      }
      return ended.error();
    }
  }
}

}  // namespace fusefarm::coordinator
