// One job at a time over a Transport: events in order, a time limit, a request to stop.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "records/transport.h"

namespace fusefarm::coordinator {

struct JobRun {
  std::optional<JobResult> result;  // absent: cut short by the time limit
  double seconds = 0;               // by the coordinator's clock, submission to end
};

class JobRunner {
 public:
  struct Handlers {
    std::function<Result<void>(Outcome)> on_outcome;  // an error cancels the job and is returned
    std::function<void(const JobProgress&)> on_progress;
  };

  // All borrowed. `stop_requested` is polled about twice a second.
  JobRunner(Transport& transport, const Clock& clock, std::function<bool()> stop_requested);

  // Errors: kCancelled when stop was requested; whatever ended the job on the worker's side.
  Result<JobRun> run(Job job, const Handlers& handlers,
                     double limit_seconds = std::numeric_limits<double>::infinity());

  bool stop_requested() const { return stop_requested_(); }

 private:
  Transport& transport_;
  const Clock& clock_;
  std::function<bool()> stop_requested_;
  std::uint64_t next_lease_ = 1;
};

}  // namespace fusefarm::coordinator
