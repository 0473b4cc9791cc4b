// The seam between coordinator and workers. In one process it is a queue and a thread
// (coordinator/in_process_transport.h); over a network it is ZeroMQ.
#pragma once

#include <functional>
#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "records/job.h"

namespace fusefarm {

struct TransportEvent {
  LeaseId lease;
  std::variant<JobProgress, Outcome, Result<JobResult>> what;
  // Outcome: one candidate of a ScreenJob is through; the job goes on.
  // Result<JobResult>: the job ended; an Error is the infrastructure's, never the candidate's.
};

// Coordinator's end. All calls from the coordinator's thread.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<void> submit(LeaseId lease, Job job) = 0;
  // The next event, or nothing within the time-out.
  virtual std::optional<TransportEvent> wait(Duration timeout) = 0;
  // Asks the running job to stop at the next safe point; its end still arrives as an event
  // (kCancelled).
  virtual void cancel(LeaseId lease) = 0;
};

// Worker's end: runs one job at a time.
class JobHandler {
 public:
  virtual ~JobHandler() = default;
  // Called on the worker's thread. `report` may be called from it at any time until it returns.
  virtual Result<JobResult> run(const Job& job, const std::function<void(TransportEvent)>& report,
                                const std::function<bool()>& cancelled, LeaseId lease) = 0;
};

}  // namespace fusefarm
