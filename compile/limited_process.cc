#include "compile/limited_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/posix_error.h"
#include "base/unique_fd.h"

namespace fusefarm::compile {
namespace {

// Between fork and exec: async-signal-safe calls only.
void limit(__rlimit_resource what, std::uint64_t value) {
  const rlimit bound{value, value};
  ::setrlimit(what, &bound);
}

[[noreturn]] void become(const std::vector<char*>& argv, const std::vector<char*>& environment,
                         const char* folder, int output, const ProcessLimits& limits) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_AS, limits.memory_bytes);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
  } else {
    ::close(STDIN_FILENO);
  }
  if (::dup2(output, STDOUT_FILENO) < 0 || ::dup2(output, STDERR_FILENO) < 0 ||
      ::chdir(folder) != 0) {
    ::_exit(126);
  }
  ::execve(argv[0], argv.data(), environment.data());
  ::_exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) {
    result.push_back(const_cast<char*>(text.c_str()));
  }
  result.push_back(nullptr);
  return result;
}

// Reads until the end of the pipe or the deadline. False: the deadline came first.
bool drain(int fd, TimePoint deadline, const Clock& clock, std::string& output) {
  std::array<char, 16384> chunk{};
  for (;;) {
    const Duration left = deadline - clock.now();
    if (left <= Duration::zero()) {
      return false;
    }
    pollfd entry{fd, POLLIN, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(ms, 3'600'000)));
    if (ready <= 0) {
      continue;  // interrupted, or the deadline, which the loop's head sees
    }
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return true;
    }
    const std::size_t room = kOutputMax - output.size();
    output.append(chunk.data(), std::min(room, static_cast<std::size_t>(std::max<ssize_t>(n, 0))));
  }
}

}  // namespace

Result<ProcessEnd> run_limited(const std::vector<std::string>& argv, const std::string& folder,
                               const ProcessLimits& limits, const Clock& clock) {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    return posix_error("open a pipe", errno);
  }
  const UniqueFd reader(pipe_ends[0]);
  UniqueFd writer(pipe_ends[1]);
  const std::vector<std::string> environment{"PATH=/usr/bin:/bin", "TMPDIR=" + folder, "LC_ALL=C"};
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> variables = pointers(environment);
  const TimePoint deadline = clock.now() + limits.wall;
  const pid_t pid = ::fork();
  if (pid < 0) {
    return posix_error("start " + argv[0], errno);
  }
  if (pid == 0) {
    become(arguments, variables, folder.c_str(), writer.get(), limits);
  }
  writer.reset();
  ProcessEnd end;
  end.timed_out = !drain(reader.get(), deadline, clock, end.output);
  if (end.timed_out) {
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::kill(-pid, SIGKILL);  // what it may have left behind in its group
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  if (end.exit_code == 126 || end.exit_code == 127) {
    return Error{ErrorCode::kEnvironment, "can't run the compiler " + argv[0]};
  }
  return end;
}

}  // namespace fusefarm::compile
