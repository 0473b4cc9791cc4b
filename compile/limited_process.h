// A child process under resource limits, its output captured up to a bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fusefarm::compile {

struct ProcessLimits {
  Duration wall{};
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  // address space
  std::uint64_t file_bytes = 0;    // of each file that it writes
};

struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;          // 0: it exited
  bool timed_out = false;  // killed at the wall-clock limit
  std::string output;      // stdout and stderr together, first kOutputMax bytes
};

constexpr std::size_t kOutputMax = 32U << 10;

// Runs argv[0] (a path) with an environment of PATH and TMPDIR only, in a process group of its own,
// which is killed as a whole at the limit and at the end. Error: kEnvironment when it can't start.
Result<ProcessEnd> run_limited(const std::vector<std::string>& argv, const std::string& folder,
                               const ProcessLimits& limits, const Clock& clock);

}  // namespace fusefarm::compile
