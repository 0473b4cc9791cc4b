// The life of a compiler child: one request, one reply.
#pragma once

#include <string>

#include "base/time.h"
#include "base/unique_fd.h"

namespace fusefarm::compile {

// Exit status of the process. `folder`: writable, private.
int serve(UniqueFd socket, const std::string& folder, const Clock& clock);

}  // namespace fusefarm::compile
