// Whether something else ran on the executor's cores during a slot, by the kernel's own accounts.
// The only ground on which a slot may be thrown away; its time never is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/time.h"

namespace fusefarm::worker {

class Telemetry {
 public:
  // Threads of the innermost process below `root` (a sandbox) or of `root` itself.
  static Telemetry attach(pid_t root);

  struct Reading {
    std::vector<std::uint64_t> waited_ns;  // of each thread, runnable without a core
    std::uint64_t stolen_ticks = 0;        // of the host, by its hypervisor
  };

  Reading read() const;

  // False: this kernel keeps no such accounts, and nothing is ever discarded.
  bool available() const { return !files_.empty(); }

 private:
  std::vector<std::string> files_;
};

// Why a slot must not count; empty: it counts.
std::string disturbance(const Telemetry::Reading& before, const Telemetry::Reading& after,
                        Duration elapsed);

}  // namespace fusefarm::worker
