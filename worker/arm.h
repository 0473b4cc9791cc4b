// One arm of a comparison: an executor in its own sandboxed process with one program loaded. The
// worker's clock brackets its slots; nothing that the executor says is a time or a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "childlink/channel.h"
#include "childlink/control_page.h"
#include "childlink/runner_messages.h"
#include "records/program.h"
#include "records/verdict.h"
#include "worker/child_process.h"
#include "worker/sandbox.h"

namespace fusefarm::worker {

// What every arm of this worker has in common. Borrowed parts outlive the arms.
struct ArmHost {
  const Sandbox* sandbox = nullptr;
  const Clock* clock = nullptr;
  int threads = 1;
  std::vector<int> cores;
  std::string blas_core;  // forced kernel set of OpenBLAS; empty: its own detection
};

struct ArmInputs {
  Program program;
  std::vector<int> artifacts;  // descriptors, in the program's order
  int boundary_fd = -1;
  int weights_fd = -1;  // read-only; unused when the program has no weights
};

// A slot's end: it ran, or the executor died or hung, which is the doing of what it ran.
struct SlotEnd {
  Duration elapsed{};
  std::optional<Verdict> fault;  // kRejectFault, kRejectHang, kRejectResource, kRejectTamper
};

class ArmProcess {
 public:
  // An Error is the host's; `fault` is set (and the result empty) when the program's artifacts are
  // to blame.
  static Result<std::optional<ArmProcess>> start(const ArmHost& host, const ArmInputs& inputs,
                                                 std::optional<Verdict>& fault);

  const childlink::Loaded& report() const { return report_; }

  pid_t pid() const { return process_.pid(); }

  std::uint32_t steps() const { return steps_; }

  // Runs a command and waits for its end, at most `deadline`.
  SlotEnd run(const childlink::CommandArgs& args, Duration deadline);
  // `launches` launches from set `first_set`, weight copies rotating on from the last run.
  SlotEnd launch(std::uint32_t first_set, std::uint32_t launches, Duration deadline);
  // Untimed: private scratch gets plausible wrong values.
  SlotEnd poison(std::uint32_t pattern, Duration deadline);

  // Ends the executor and waits until its memory is free again.
  void stop();

 private:
  ArmProcess(ChildProcess process, childlink::Channel channel, childlink::ControlMapping page,
             const Clock& clock)
      : process_(std::move(process)),
        channel_(std::move(channel)),
        page_(std::move(page)),
        clock_(&clock) {}

  ChildProcess process_;
  childlink::Channel channel_;
  childlink::ControlMapping page_;
  const Clock* clock_;
  childlink::Loaded report_;
  std::uint32_t next_copy_ = 0;
  std::uint32_t steps_ = 0;
};

// What an executor's unexpected end says about the code it ran.
Verdict fault_of(const ExitStatus& status);

}  // namespace fusefarm::worker
