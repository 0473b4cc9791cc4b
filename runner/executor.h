// A loaded program, ready to launch on the team's threads.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "childlink/control_page.h"
#include "childlink/runner_messages.h"
#include "codegen/kernels/builtin.h"
#include "records/program.h"
#include "runner/artifact.h"
#include "runner/gemm_library.h"
#include "runner/program_memory.h"
#include "runner/team.h"

namespace fusefarm::runner {

class Executor {
  struct Key {};

 public:
  struct Failure {
    childlink::LoadFault fault = childlink::LoadFault::kProgram;
    std::string message;
  };

  // Maps, prepares, loads and resolves everything; runs no step. Artifact descriptors in the
  // program's order. On failure `failure` says whose fault it was. `team` and `clock` are borrowed.
  static std::unique_ptr<Executor> load(Program program, const SharedRegions& shared,
                                        const std::vector<int>& artifact_fds, Team& team,
                                        const Clock& clock, Failure& failure);

  // For load() alone, which has the key.
  Executor(Key, Program program, Team& team)
      : program_(std::move(program)),
        team_(team),
        shares_(static_cast<std::size_t>(team.threads())) {}

  // Runs a command on all threads and returns when its last step is through. Commands out of range
  // do nothing: false.
  bool run(const childlink::CommandArgs& args);

  const childlink::Loaded& report() const { return report_; }

 private:
  // One step, resolved: where its tensors lie is known, only the launch's place is added.
  struct Step {
    StepKind kind = StepKind::kBuiltin;
    std::vector<codegen::TensorArg> tensors;  // data: of the first set and copy
    std::vector<std::int32_t> buffers;        // of each tensor
    std::vector<std::size_t> offsets;         // bytes from the buffer's first byte
    std::optional<codegen::BuiltinKernel> kernel;
    std::unique_ptr<GemmLibrary> library;
    Entry entry;
    std::vector<long> dims;
    std::int64_t blocks = 0;
  };

  // A thread's share of a candidate step's blocks; idle threads take from the shares of others. Two
  // of each, used in turn, so that one is reset while the other is in use.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next[2];
  };

  Result<void> load_artifacts(const std::vector<int>& fds);
  Result<void> resolve(const ProgramStep& from);
  Result<void> resolve_builtin(const ProgramStep& from, Step& step);
  void run_launches(const childlink::CommandArgs& args, int thread);
  void run_step(Step& step, LaunchPlace place, unsigned turn, int thread);
  void run_blocks(const Step& step, const FfArgs& args, unsigned turn, int thread);

  Program program_;
  Team& team_;
  std::optional<ProgramMemory> memory_;
  std::vector<Artifact> artifacts_;
  std::vector<Step> steps_;
  std::vector<Share> shares_;
  childlink::Loaded report_;
};

}  // namespace fusefarm::runner
