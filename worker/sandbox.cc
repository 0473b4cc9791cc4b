#include "worker/sandbox.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix_error.h"
#include "childlink/channel.h"
#include "worker/system_call_policy.h"

namespace fusefarm::worker {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kChannelFd = 3;
constexpr int kFilterFd = 4;
constexpr int kUsageExit = 2;  // what our child programs answer to a call without arguments
constexpr const char* kInside = "/fusefarm";

const char* program_of(Profile profile) {
  return profile == Profile::kExecutor ? "fusefarm-runner" : "fusefarm-compile";
}

bool executable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string find_bubblewrap(const SandboxOptions& options) {
  if (!options.bubblewrap.empty()) {
    return options.bubblewrap;
  }
  for (const std::string& folder : {options.program_folder, std::string("/usr/bin"),
                                    std::string("/usr/local/bin"), std::string("/bin")}) {
    if (executable(folder + "/bwrap")) {
      return folder + "/bwrap";
    }
  }
  return {};
}

// /lib and its like are links into /usr on merged systems, folders of their own elsewhere.
void show_system_folder(const std::string& path, std::vector<std::string>& argv) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_symlink(status)) {
    argv.insert(argv.end(), {"--symlink", fs::read_symlink(path, error).string(), path});
  } else if (fs::is_directory(status)) {
    argv.insert(argv.end(), {"--ro-bind", path, path});
  }
}

// What a program printed before it ended, at most a few lines.
std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> chunk{};
  for (;;) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n <= 0 || text.size() > 2000) {
      return text;
    }
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace

const char* to_string(IsolationLevel level) {
  return level == IsolationLevel::kFull ? "full" : "none";
}

Result<Sandbox> Sandbox::detect(const SandboxOptions& options) {
  Sandbox sandbox(options);
  for (const Profile profile : {Profile::kExecutor, Profile::kCompiler}) {
    const std::string program = options.program_folder + "/" + program_of(profile);
    if (!executable(program)) {
      return Error{ErrorCode::kEnvironment,
                   "there is no " + program + "; the programs belong into one folder"};
    }
  }
  sandbox.options_.bubblewrap = find_bubblewrap(options);
  sandbox.level_ = IsolationLevel::kFull;
  if (sandbox.options_.bubblewrap.empty()) {
    sandbox.reason_ = "bubblewrap is not installed (package bubblewrap)";
  } else if (!has_system_call_policy()) {
    sandbox.reason_ = "this build has no libseccomp (package libseccomp-dev)";
  } else if (auto tried = sandbox.try_out(); !tried.ok()) {
    sandbox.reason_ = tried.error().message;
  }
  if (!sandbox.reason_.empty()) {
    if (!options.degraded_ok) {
      return Error{ErrorCode::kEnvironment,
                   "no sandbox for candidate code: " + sandbox.reason_ +
                       "; repair it, or allow `sandbox: degraded-ok` to run without"};
    }
    sandbox.level_ = IsolationLevel::kNone;
  }
  return sandbox;
}

// A call without arguments must come back with the program's own usage: then the loader, the
// libraries, the namespaces and the filter all work.
Result<void> Sandbox::try_out() const {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return posix_error("open a pipe", errno);
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const UniqueFd filter = TRY(executor_filter());
  SpawnOptions spawn;
  spawn.argv = command(Profile::kExecutor);
  spawn.fds = {{writer.get(), STDERR_FILENO}, {filter.get(), kFilterFd}};
  ChildProcess child = TRY(ChildProcess::spawn(spawn));
  writer.reset();
  const std::string said = read_all(reader.get());
  const auto status = child.wait(10s);
  if (!status || status->signal != 0 || status->code != kUsageExit) {
    return Error{ErrorCode::kEnvironment,
                 "bubblewrap does not work here (" +
                     (status ? worker::to_string(*status) : std::string("no end")) + "): " + said};
  }
  return {};
}

std::vector<std::string> Sandbox::command(Profile profile) const {
  const std::string name = program_of(profile);
  if (level_ == IsolationLevel::kNone) {
    return {options_.program_folder + "/" + name};
  }
  std::vector<std::string> argv{options_.bubblewrap,
                                "--unshare-user",
                                "--unshare-pid",
                                "--unshare-net",
                                "--unshare-ipc",
                                "--unshare-uts",
                                "--unshare-cgroup-try",
                                "--die-with-parent",
                                "--new-session",
                                "--uid",
                                "65534",
                                "--gid",
                                "65534",
                                "--cap-drop",
                                "ALL",
                                "--hostname",
                                "fusefarm",
                                "--ro-bind",
                                "/usr",
                                "/usr"};
  for (const char* folder : {"/lib", "/lib64", "/bin"}) {
    show_system_folder(folder, argv);
  }
  for (const char* file : {"/etc/ld.so.cache", "/etc/alternatives"}) {
    argv.insert(argv.end(), {"--ro-bind-try", file, file});
  }
  const std::string inside = std::string(kInside) + "/" + name;
  argv.insert(argv.end(), {"--ro-bind",    options_.program_folder + "/" + name,
                           inside,         "--dev-bind",
                           "/dev/null",    "/dev/null",
                           "--proc",       "/proc",
                           "--size",       std::to_string(64 << 20),
                           "--tmpfs",      "/tmp",
                           "--remount-ro", "/",
                           "--chdir",      "/tmp",
                           "--seccomp",    std::to_string(kFilterFd),
                           "--",           inside});
  return argv;
}

Result<SandboxedChild> Sandbox::spawn(Profile profile, const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment,
                                      std::uint64_t data_bytes_max) const {
  childlink::ChannelEnds ends = TRY(childlink::make_channel_ends());
  SpawnOptions spawn;
  spawn.argv = command(profile);
  spawn.argv.insert(spawn.argv.end(), {"--channel", std::to_string(kChannelFd)});
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.environment = environment;
  spawn.data_bytes_max = data_bytes_max;
  spawn.fds = {{ends.child.get(), kChannelFd}};
  UniqueFd filter;
  if (level_ == IsolationLevel::kFull) {
    filter = TRY(profile == Profile::kExecutor ? executor_filter() : compiler_filter());
    spawn.fds.emplace_back(filter.get(), kFilterFd);
  }
  ChildProcess process = TRY(ChildProcess::spawn(spawn));
  return SandboxedChild{std::move(process), std::move(ends.parent)};
}

}  // namespace fusefarm::worker
