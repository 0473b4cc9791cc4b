#include "tests/e2e/program.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

extern char** environ;

namespace fusefarm::e2e {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Program::Program(std::vector<std::string> arguments, const std::string& folder)
    : out_path_(folder + "/stdout"), err_path_(folder + "/stderr") {
  std::string program = FUSEFARM_BINARY_DIR "/fusefarm";
  std::vector<char*> argv{program.data()};
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path_.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path_.c_str(), kFlags, 0600);
  if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Program::signal(int number) const {
  if (pid_ > 0) {
    ::kill(pid_, number);
  }
}

Ended Program::wait(double seconds) {
  Ended ended;
  if (pid_ <= 0) {
    return ended;
  }
  const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd waiting{handle.get(), POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(seconds * 1000)) == 0) {
    ::kill(pid_, SIGKILL);
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) {
    ended.exit_code = WEXITSTATUS(status);
  }
  ended.out = content(out_path_);
  ended.err = content(err_path_);
  return ended;
}

std::string Program::errors_so_far() const { return content(err_path_); }

Ended fusefarm(const std::vector<std::string>& arguments, const std::string& folder,
               double seconds) {
  return Program(arguments, folder).wait(seconds);
}

bool process_with(const std::string& needle) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string command = content(entry.path().string() + "/cmdline");
    if (command.find(needle) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace fusefarm::e2e
