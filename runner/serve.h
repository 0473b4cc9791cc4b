// The life of an executor process: one load request, then commands until the parent is gone.
#pragma once

#include "base/time.h"
#include "base/unique_fd.h"

namespace fusefarm::runner {

// Returns the process's exit status when nothing was loaded; otherwise never returns: the process
// ends by _exit when the peer closes the channel (within milliseconds, whatever the steps do).
int serve(UniqueFd socket, const Clock& clock);

}  // namespace fusefarm::runner
