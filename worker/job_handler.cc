#include "worker/job_handler.h"

#include <utility>
#include <variant>

#include <unistd.h>

#include "worker/build_pool.h"
#include "worker/host.h"
#include "worker/session.h"

namespace fusefarm::worker {
namespace {

class Handler final : public JobHandler {
 public:
  explicit Handler(const WorkerOptions& options) : options_(options) {}

  // Children die with the thread that started them, so everything starts on the first run's thread.
  Result<JobResult> run(const Job& job, const std::function<void(TransportEvent)>& report,
                        const std::function<bool()>& cancelled, LeaseId lease) override {
    if (session_ == nullptr || thread_ != ::gettid()) {
      session_.reset();
      session_ = TRY(Session::start(options_));
      thread_ = ::gettid();
    }
    const JobContext context{lease, &report, &cancelled};
    return std::visit([&](const auto& one) { return run_one(one, context); }, job);
  }

 private:
  template <class T>
  static Result<JobResult> widen(Result<T> result) {
    if (!result.ok()) {
      return result.error();
    }
    return JobResult(result.take());
  }

  Result<JobResult> run_one(const ProfileJob& job, const JobContext& context) {
    return widen(run_profile(*session_, job, context));
  }

  Result<JobResult> run_one(const ScreenJob& job, const JobContext& context) {
    return widen(run_screen(*session_, job, context));
  }

  Result<JobResult> run_one(const ConfirmJob& job, const JobContext& context) {
    return widen(run_confirm(*session_, job, context));
  }

  Result<JobResult> run_one(const IntegrateJob& job, const JobContext& context) {
    return widen(run_integration(*session_, job, context));
  }

  WorkerOptions options_;
  std::unique_ptr<Session> session_;
  pid_t thread_ = 0;
};

}  // namespace

Result<std::unique_ptr<JobHandler>> make_job_handler(const WorkerOptions& options) {
  // What the host lacks is said now, and not in the middle of the first job.
  const Sandbox sandbox = TRY(
      Sandbox::detect({options.program_folder, options.bubblewrap, options.sandbox_degraded_ok}));
  BuildOptions build;
  build.compiler = options.compiler;
  TRY(BuildPool(sandbox, build, *options.clock).toolchain());
  if (::access((options.program_folder + "/fusefarm-judge").c_str(), X_OK) != 0) {
    return Error{ErrorCode::kEnvironment,
                 "there is no " + options.program_folder + "/fusefarm-judge"};
  }
  return std::unique_ptr<JobHandler>(std::make_unique<Handler>(options));
}

HostReport inspect_host(const WorkerOptions& options) {
  HostReport report;
  report.device_class = device_class(usable_cores(options.threads).size());
  const auto sandbox = Sandbox::detect({options.program_folder, options.bubblewrap, true});
  if (!sandbox.ok()) {
    report.isolation = to_string(IsolationLevel::kNone);
    report.isolation_reason = sandbox.error().message;
    return report;
  }
  report.isolation = to_string(sandbox->level());
  report.isolation_reason = sandbox->reason();
  BuildOptions build;
  build.compiler = options.compiler;
  const auto toolchain = BuildPool(*sandbox, build, *options.clock).toolchain();
  report.toolchain_ok = toolchain.ok();
  report.toolchain = toolchain.ok() ? *toolchain : toolchain.error().message;
  return report;
}

}  // namespace fusefarm::worker
