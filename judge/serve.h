// The life of a judge: requests in, answers out, until the worker closes its end.
#pragma once

#include "base/time.h"
#include "base/unique_fd.h"

namespace fusefarm::judge {

// Exit status of the process.
int serve(UniqueFd socket, const Clock& clock);

}  // namespace fusefarm::judge
