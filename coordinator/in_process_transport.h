// A Transport for one process: the worker's JobHandler runs on a thread of its own, jobs and events
// cross in two queues. Job results are values, so nothing else is shared.
#pragma once

#include <memory>
#include <optional>

#include "records/transport.h"

namespace fusefarm::coordinator {

// Construction, calls and destruction from the coordinator's thread. Destruction cancels what runs
// and waits for the handler to return.
class InProcessTransport final : public Transport {
 public:
  // `handler` is borrowed: it outlives this, and only the worker thread calls it.
  explicit InProcessTransport(JobHandler& handler);
  ~InProcessTransport() override;
  InProcessTransport(const InProcessTransport&) = delete;
  InProcessTransport& operator=(const InProcessTransport&) = delete;

  Result<void> submit(LeaseId lease, Job job) override;
  std::optional<TransportEvent> wait(Duration timeout) override;
  void cancel(LeaseId lease) override;

 private:
  class Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace fusefarm::coordinator
