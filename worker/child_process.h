// A child of the worker: started with exactly the descriptors, environment and limits named,
// watched by a pidfd, and dead with its owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"

namespace fusefarm::worker {

struct SpawnOptions {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // "NAME=value"; nothing else is inherited
  // (ours, the number the child sees it under). 0, 1 and 2 are /dev/null unless named; everything
  // else is closed.
  std::vector<std::pair<int, int>> fds;
  std::uint64_t data_bytes_max = 0;  // private writable memory (RLIMIT_DATA); 0: no limit
};

struct ExitStatus {
  int code = 0;
  int signal = 0;  // 0: it exited with `code`
};

// "exit status 3", "signal 11 (Segmentation fault)".
std::string to_string(const ExitStatus& status);

// One thread at a time. The child also dies when the thread that spawned it ends.
class ChildProcess {
 public:
  // kEnvironment when the program can't be started.
  static Result<ChildProcess> spawn(const SpawnOptions& options);

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        pidfd_(std::move(other.pidfd_)),
        status_(other.status_) {}

  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  ~ChildProcess() { kill(); }

  pid_t pid() const { return pid_; }

  // The exit status once there is one, waiting at most `timeout`.
  std::optional<ExitStatus> wait(Duration timeout);
  // SIGKILL and reap; nothing when it has ended already.
  void kill();

 private:
  ChildProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

}  // namespace fusefarm::worker
