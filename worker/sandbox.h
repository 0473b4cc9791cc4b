// What stands between untrusted code and this host. At level `full` a child sees read-only system
// libraries, its own program and a private /tmp, in namespaces of its own, under a system-call
// filter. At level `none` it is an ordinary process; that is refused unless the operator allows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "worker/child_process.h"

namespace fusefarm::worker {

enum class IsolationLevel : std::uint8_t { kFull, kNone };

const char* to_string(IsolationLevel level);

struct SandboxOptions {
  std::string program_folder;  // of the child programs
  std::string bubblewrap;      // path; empty: beside the programs, then in the system's folders
  bool degraded_ok = false;
};

enum class Profile : std::uint8_t {
  kExecutor,  // fusefarm-runner
  kCompiler,  // fusefarm-compile
};

// A child with its end of a channel.
struct SandboxedChild {
  ChildProcess process;
  UniqueFd channel;
};

class Sandbox {
 public:
  // Tries the whole sandbox once on a real program. kEnvironment, with what is missing and the
  // remedy, when it doesn't work and `degraded_ok` is not set.
  static Result<Sandbox> detect(const SandboxOptions& options);

  IsolationLevel level() const { return level_; }

  // Why the level is not full; empty otherwise.
  const std::string& reason() const { return reason_; }

  // Starts fusefarm-runner or fusefarm-compile; `arguments` follow `--channel 3`.
  Result<SandboxedChild> spawn(Profile profile, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment,
                               std::uint64_t data_bytes_max) const;

  // Where a profile's child may write files: a private file system, at level `none` a folder of the
  // host's.
  std::string scratch_folder() const { return "/tmp"; }

 private:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  Result<void> try_out() const;
  std::vector<std::string> command(Profile profile) const;

  SandboxOptions options_;
  IsolationLevel level_ = IsolationLevel::kNone;
  std::string reason_;
};

}  // namespace fusefarm::worker
