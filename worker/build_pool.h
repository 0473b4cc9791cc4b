// Candidates to shared objects: several sandboxed compilers at once, each artifact built once.
// Never runs while something is timed: its caller waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"
#include "records/candidate.h"
#include "records/verdict.h"
#include "worker/sandbox.h"

namespace fusefarm::worker {

// What became of a candidate's source. A build that failed is remembered like one that worked.
struct Artifact {
  std::shared_ptr<const UniqueFd> object;  // sealed memfd; null when it was refused
  std::string bytes;                       // the object's content, for inspection
  Digest digest;                           // of the content
  std::optional<Verdict> refused;          // kRejectBuild
  double seconds = 0;                      // of the compiler; 0 when it came from the cache
};

struct BuildOptions {
  std::string compiler = "/usr/bin/g++";
  int processes = 2;
  double seconds_max = 20;
  std::string cache_folder;  // empty: in memory only
};

class BuildPool {
 public:
  // `sandbox` and `clock` are borrowed.
  BuildPool(const Sandbox& sandbox, BuildOptions options, const Clock& clock)
      : sandbox_(&sandbox), options_(std::move(options)), clock_(&clock) {}

  // Builds those that are not built yet. Afterwards find() knows each of them. Stops early when
  // `cancelled` says so. Errors are the host's: no compiler, no sandbox, no memory.
  Result<void> build(const std::vector<const Candidate*>& candidates,
                     const std::function<bool()>& cancelled);
  // Built or refused; nullptr when it was never asked for. Valid until the pool dies.
  const Artifact* find(const Candidate& candidate) const;

  // "g++ (Debian 12.2.0-14) 12.2.0": the compiler's own words. kEnvironment without a compiler.
  Result<std::string> toolchain();

 private:
  struct Running;
  Digest key(const Candidate& candidate) const;
  Result<Running> start(const Candidate& candidate) const;
  Result<Artifact> finish(Running& running) const;
  std::optional<Artifact> from_folder(const Digest& key) const;
  void to_folder(const Digest& key, const Artifact& artifact) const;

  const Sandbox* sandbox_;
  BuildOptions options_;
  const Clock* clock_;
  std::string toolchain_;
  std::map<Digest, Artifact> artifacts_;
};

}  // namespace fusefarm::worker
