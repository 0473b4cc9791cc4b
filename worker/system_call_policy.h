// System-call filters for the sandbox, as programs that bubblewrap loads before it starts the
// child.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace fusefarm::worker {

// True when this build can make filters (libseccomp).
bool has_system_call_policy();

// A fresh descriptor, at its start, that holds the filter's program.
//   executor: an allow-list of what a dynamic loader, BLAS and threads need; no socket, no process
//     beyond threads, no tracing. Everything else fails with EPERM. The executor tightens it itself
//     before candidate code runs (runner/system_call_filter.h).
//   compiler: processes and files are its trade, so a deny-list: sockets, tracing, namespaces,
//     mounts, kernel interfaces.
Result<UniqueFd> executor_filter();
Result<UniqueFd> compiler_filter();

}  // namespace fusefarm::worker
