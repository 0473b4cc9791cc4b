// The worker's answer to a coordinator: profiles, screens, confirms and integrates, one job at a
// time, with candidate code only ever in sandboxed children.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "records/campaign.h"
#include "records/transport.h"

namespace fusefarm::worker {

struct WorkerOptions {
  std::string program_folder;  // of fusefarm-runner, fusefarm-compile, fusefarm-judge
  int threads = 0;             // of the CPU device; 0: all usable cores
  std::uint64_t seed = 1;      // of weights, inputs and order draws
  GateSpec gate;
  bool sandbox_degraded_ok = false;
  std::string bubblewrap;                 // path; empty: searched
  std::string compiler = "/usr/bin/g++";  // as the sandbox sees it
  std::string cache_folder;               // of artifacts; empty: none
  const Clock* clock = nullptr;           // required; outlives the handler
};

// Starts the judge and tries the sandbox out. kEnvironment when the host lacks something.
Result<std::unique_ptr<JobHandler>> make_job_handler(const WorkerOptions& options);

// What the host offers, without starting anything but the sandbox's trial: for `fusefarm doctor`.
struct HostReport {
  std::string device_class;
  std::string toolchain;  // or why there is none
  bool toolchain_ok = false;
  std::string isolation;         // full | none
  std::string isolation_reason;  // when not full
};

HostReport inspect_host(const WorkerOptions& options);

}  // namespace fusefarm::worker
