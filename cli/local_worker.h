// The worker of an embedded run, started when the first job needs it: a campaign that the store
// already answers starts none.
#pragma once

#include <memory>

#include "records/transport.h"
#include "worker/job_handler.h"

namespace fusefarm::cli {

// Called by one thread only, which must live as long as the children it starts.
class LocalWorker final : public JobHandler {
 public:
  explicit LocalWorker(worker::WorkerOptions options) : options_(std::move(options)) {}

  Result<JobResult> run(const Job& job, const std::function<void(TransportEvent)>& report,
                        const std::function<bool()>& cancelled, LeaseId lease) override;

 private:
  worker::WorkerOptions options_;
  std::unique_ptr<JobHandler> handler_;
};

// The folder of this program's file, where its children are.
Result<std::string> program_folder();
// Cores that this process may run on.
int usable_cores();

}  // namespace fusefarm::cli
