#include "worker/arm.h"

#include <csignal>
#include <utility>

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;
using childlink::LoadFault;

constexpr Duration kLoadDeadline = 60s;
constexpr Duration kWatchInterval = 50ms;  // how late a death inside a slot may be noticed
constexpr Duration kEndDeadline = 2s;
constexpr std::uint64_t kSpareBytes = std::uint64_t{1} << 30;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

std::vector<std::string> environment_of(const ArmHost& host) {
  // The libraries' own threads stay off: the executor splits the work over its team.
  std::vector<std::string> variables{"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "LC_ALL=C"};
  if (!host.blas_core.empty()) {
    variables.push_back("OPENBLAS_CORETYPE=" + host.blas_core);
  }
  return variables;
}

// Private memory the program may need, with room for libraries; a sanitizer reserves its own.
std::uint64_t data_limit(const Program& program) {
  if (kSanitized) {
    return 0;
  }
  std::int64_t bytes = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    const std::int64_t own = buffer.rows * buffer.columns * graph::bytes_of(buffer.dtype);
    const bool shared = buffer.placement == Placement::kBoundary ||
                        (buffer.placement == Placement::kWeights && buffer.copies == 1);
    // Twice: a library may keep its own layout beside the prepared one.
    bytes += shared ? 0 : 2 * own * buffer.copies;
  }
  return static_cast<std::uint64_t>(bytes) + kSpareBytes;
}

Verdict reject(VerdictClass klass, std::string reason, std::string detail) {
  Verdict verdict;
  verdict.klass = klass;
  verdict.reason = std::move(reason);
  verdict.detail = std::move(detail);
  return verdict;
}

}  // namespace

Verdict fault_of(const ExitStatus& status) {
  // bubblewrap reports the signal of what it ran as 128 + signal.
  int signal = status.signal;
  if (signal == 0 && status.code > 128 && status.code < 128 + 65) {
    signal = status.code - 128;
  }
  const std::string detail = "the executor ended: " + to_string(ExitStatus{status.code, signal});
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      return reject(VerdictClass::kRejectFault, "memory", detail);
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
      return reject(VerdictClass::kRejectFault, "trap", detail);
    case SIGSYS:
      return reject(VerdictClass::kRejectTamper, "syscall", detail);
    case SIGKILL:
      return reject(VerdictClass::kRejectResource, "memory", detail);
    case 0:
      return reject(VerdictClass::kRejectTamper, "exit", detail);
    default:
      return reject(VerdictClass::kRejectFault, "signal", detail);
  }
}

Result<std::optional<ArmProcess>> ArmProcess::start(const ArmHost& host, const ArmInputs& inputs,
                                                    std::optional<Verdict>& fault) {
  const UniqueFd control = TRY(childlink::make_control_page());
  childlink::ControlMapping page = TRY(childlink::ControlMapping::map(control.get()));
  SandboxedChild child = TRY(host.sandbox->spawn(Profile::kExecutor, {}, environment_of(host),
                                                 data_limit(inputs.program)));
  std::vector<int> fds{control.get(), inputs.boundary_fd};
  if (inputs.program.weight_bytes > 0) {
    fds.push_back(inputs.weights_fd);
  }
  fds.insert(fds.end(), inputs.artifacts.begin(), inputs.artifacts.end());
  ArmProcess arm(std::move(child.process),
                 childlink::Channel(std::move(child.channel), *host.clock), std::move(page),
                 *host.clock);
  arm.steps_ = static_cast<std::uint32_t>(inputs.program.steps.size());
  const childlink::LoadRequest request{inputs.program, host.threads, host.cores};
  TRY(arm.channel_.send(childlink::encode(request), fds, 10s));
  auto message = arm.channel_.receive(kLoadDeadline);
  if (!message.ok()) {
    // It died while loading: without artifacts that is our own fault.
    const auto status = arm.process_.wait(kEndDeadline);
    if (!inputs.artifacts.empty() && status) {
      fault = fault_of(*status);
      return std::optional<ArmProcess>{};
    }
    return message.error().with_context(
        "an executor ended while loading (" +
        (status ? worker::to_string(*status) : std::string("no status")) + ")");
  }
  if (!message->has_value()) {
    fault = reject(VerdictClass::kRejectHang, "load", "the executor did not load in time");
    return std::optional<ArmProcess>{};
  }
  const auto reply = TRY(childlink::load_reply_from((*message)->text));
  if (const auto* failed = std::get_if<childlink::LoadFailed>(&reply)) {
    switch (failed->fault) {
      case LoadFault::kArtifact:
        fault = reject(VerdictClass::kRejectFault, "launch", failed->message);
        return std::optional<ArmProcess>{};
      case LoadFault::kResource:
        fault = reject(VerdictClass::kRejectResource, "memory", failed->message);
        return std::optional<ArmProcess>{};
      case LoadFault::kHost:
        return Error{ErrorCode::kEnvironment, failed->message};
      case LoadFault::kProgram:
        return Error{ErrorCode::kInternal, failed->message};
    }
  }
  arm.report_ = std::get<childlink::Loaded>(reply);
  if (host.sandbox->level() == IsolationLevel::kFull && !arm.report_.filtered) {
    return Error{ErrorCode::kEnvironment, "the executor has no system-call filter"};
  }
  return std::optional<ArmProcess>(std::move(arm));
}

SlotEnd ArmProcess::run(const childlink::CommandArgs& args, Duration deadline) {
  childlink::ControlPage& page = page_.page();
  SlotEnd end;
  const std::uint32_t before = page.done.load(std::memory_order_seq_cst);
  const TimePoint start = clock_->now();
  const std::uint32_t number = childlink::post_command(page, args);
  std::uint32_t seen = before;
  for (;;) {
    seen = page.done.load(std::memory_order_seq_cst);
    if (seen == number) {
      end.elapsed = clock_->now() - start;
      break;
    }
    childlink::futex_wait(page.done, seen, kWatchInterval);
    if (page.done.load(std::memory_order_seq_cst) == number) {
      end.elapsed = clock_->now() - start;
      break;
    }
    if (const auto status = process_.wait(Duration::zero())) {
      end.fault = fault_of(*status);
      return end;
    }
    if (clock_->now() - start > deadline) {
      process_.kill();
      end.fault = reject(VerdictClass::kRejectHang, "deadline",
                         "no end within " + std::to_string(seconds(deadline)) + " s");
      return end;
    }
  }
  if (page.status.load(std::memory_order_relaxed) != 0) {
    end.fault = reject(VerdictClass::kRejectTamper, "status", "the executor refused a command");
  }
  return end;
}

SlotEnd ArmProcess::launch(std::uint32_t first_set, std::uint32_t launches, Duration deadline) {
  childlink::CommandArgs args;
  args.first_set = first_set;
  args.first_copy = next_copy_;
  args.launches = launches;
  next_copy_ += launches;
  return run(args, deadline);
}

SlotEnd ArmProcess::poison(std::uint32_t pattern, Duration deadline) {
  childlink::CommandArgs args;
  args.command = childlink::Command::kPoison;
  args.poison = pattern;
  return run(args, deadline);
}

void ArmProcess::stop() {
  process_.kill();
  // bubblewrap is dead; what it ran dies with it and closes the channel when its memory is gone.
  const TimePoint deadline = clock_->now() + kEndDeadline;
  while (clock_->now() < deadline) {
    if (!channel_.receive(kEndDeadline).ok()) {
      return;
    }
  }
}

}  // namespace fusefarm::worker
