#include "worker/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/posix_error.h"

namespace fusefarm::worker {
namespace {

constexpr int kFirstSpare = 512;  // above every number a child is given
constexpr int kExecFailed = 127;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) {
    result.push_back(const_cast<char*>(text.c_str()));
  }
  result.push_back(nullptr);
  return result;
}

struct Plan {
  std::vector<char*> argv, environment;
  const SpawnOptions* options;
  int error_pipe;  // written when exec fails
};

// Between fork and exec: async-signal-safe calls only. First everything wanted moves out of the
// way, then all else is closed (this process may itself have inherited what is not close-on-exec),
// then the wanted ones take their numbers.
bool arrange_descriptors(const Plan& plan) {
  int spare = kFirstSpare;
  for (const auto& [ours, theirs] : plan.options->fds) {
    if (::fcntl(ours, F_DUPFD_CLOEXEC, spare) != spare) {
      return false;
    }
    ++spare;
  }
  if (::fcntl(plan.error_pipe, F_DUPFD_CLOEXEC, spare) != spare) {
    return false;
  }
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < 3; ++standard) {
    if (null < 0 || ::dup2(null, standard) < 0) {
      return false;
    }
  }
  // Kernels before 5.9 lack the call; there, only what is close-on-exec stays out.
  ::syscall(SYS_close_range, 3U, static_cast<unsigned>(kFirstSpare - 1), 0U);
  ::syscall(SYS_close_range, static_cast<unsigned>(spare + 1), ~0U, 0U);
  spare = kFirstSpare;
  for (const auto& [ours, theirs] : plan.options->fds) {
    if (::dup2(spare++, theirs) < 0) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void become(const Plan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (plan.options->data_bytes_max > 0) {
    const rlimit data{plan.options->data_bytes_max, plan.options->data_bytes_max};
    ::setrlimit(RLIMIT_DATA, &data);
  }
  sigset_t nothing;
  ::sigemptyset(&nothing);
  ::sigprocmask(SIG_SETMASK, &nothing, nullptr);
  if (arrange_descriptors(plan)) {
    ::execve(plan.argv[0], plan.argv.data(), plan.environment.data());
  }
  const int why = errno;
  const auto spare = kFirstSpare + static_cast<int>(plan.options->fds.size());
  const ssize_t ignored = ::write(spare, &why, sizeof(why));
  (void)ignored;
  ::_exit(kExecFailed);
}

ExitStatus from_siginfo(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) {
    return {info.si_status, 0};
  }
  return {0, info.si_status};
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  if (status.signal == 0) {
    return "exit status " + std::to_string(status.code);
  }
  const char* name = ::sigdescr_np(status.signal);
  return "signal " + std::to_string(status.signal) + " (" + (name == nullptr ? "?" : name) + ")";
}

Result<ChildProcess> ChildProcess::spawn(const SpawnOptions& options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return posix_error("open a pipe", errno);
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const Plan plan{pointers(options.argv), pointers(options.environment), &options, writer.get()};
  const pid_t pid = ::fork();
  if (pid < 0) {
    return posix_error("start " + options.argv[0], errno);
  }
  if (pid == 0) {
    become(plan);
  }
  writer.reset();
  ChildProcess child(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  if (!child.pidfd_.valid()) {
    return posix_error("watch " + options.argv[0], errno);
  }
  // The pipe closes at exec, or brings the reason why there was none.
  int why = 0;
  ssize_t n = 0;
  do {
    n = ::read(reader.get(), &why, sizeof(why));
  } while (n < 0 && errno == EINTR);
  if (n == sizeof(why)) {
    return Error{ErrorCode::kEnvironment,
                 "can't start " + options.argv[0] + ": " + ::strerrordesc_np(why)};
  }
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    status_ = other.status_;
  }
  return *this;
}

std::optional<ExitStatus> ChildProcess::wait(Duration timeout) {
  if (status_ || pid_ < 0) {
    return status_;
  }
  pollfd entry{pidfd_.get(), POLLIN, 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(ms, 0, 3'600'000)));
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOHANG) == 0 &&
      info.si_pid != 0) {
    status_ = from_siginfo(info);
  }
  return status_;
}

void ChildProcess::kill() {
  if (pid_ < 0 || status_) {
    return;
  }
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  int result = 0;
  do {
    result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED);
  } while (result != 0 && errno == EINTR);
  if (result == 0) {
    status_ = from_siginfo(info);
  }
}

}  // namespace fusefarm::worker
