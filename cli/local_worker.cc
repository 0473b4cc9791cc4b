#include "cli/local_worker.h"

#include <filesystem>
#include <system_error>

#include <sched.h>

namespace fusefarm::cli {

Result<JobResult> LocalWorker::run(const Job& job,
                                   const std::function<void(TransportEvent)>& report,
                                   const std::function<bool()>& cancelled, LeaseId lease) {
  if (!handler_) {
    handler_ = TRY(worker::make_job_handler(options_));
  }
  return handler_->run(job, report, cancelled, lease);
}

Result<std::string> program_folder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{ErrorCode::kEnvironment,
                 "/proc/self/exe: " + error.message() + " (is /proc mounted?)"};
  }
  return self.parent_path().string();
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) {
    return 1;
  }
  const int cores = CPU_COUNT(&set);
  return cores > 0 ? cores : 1;
}

}  // namespace fusefarm::cli
