// One source into one shared object, by the host's C++ compiler as a limited child process.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "base/unique_fd.h"
#include "childlink/compile_messages.h"

namespace fusefarm::compile {

struct Compiled {
  childlink::CompileReply reply;
  UniqueFd artifact;  // a sealed memfd when the status is kBuilt
};

// Builds in `folder`, which must be writable and empty of names that matter. Never fails as a
// program: what went wrong is in the reply's status.
Compiled compile_source(const childlink::CompileRequest& request, const std::string& folder,
                        const Clock& clock);

// The compiler's command line, the candidate's flags among the farm's own. The farm's come last
// where order decides: a candidate can't turn them off.
std::vector<std::string> compiler_arguments(const childlink::CompileRequest& request,
                                            const std::string& source, const std::string& output);

}  // namespace fusefarm::compile
