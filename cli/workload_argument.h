// A workload as one word of the command line.
#pragma once

#include <string>

#include "base/result.h"
#include "records/workload.h"

namespace fusefarm::cli {

// decode:BATCH:CONTEXT, prefill:TOKENS[:CONTEXT], block:BATCH:CONTEXT[:BLOCK] (BLOCK 32).
Result<Workload> parse_workload_argument(const std::string& text);

}  // namespace fusefarm::cli
