// The last line before candidate code runs: from here on the process can compute, sleep on futexes
// and die, and nothing else.
#pragma once

#include "base/result.h"

namespace fusefarm::runner {

// False: this build has no libseccomp, and enter_compute_only_mode() does nothing.
bool has_compute_only_mode();

// Applies to every thread of the process, for good; any other system call kills the process by
// SIGSYS.
Result<void> enter_compute_only_mode();

}  // namespace fusefarm::runner
