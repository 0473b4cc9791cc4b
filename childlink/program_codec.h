// Programs as JSON, for the way from worker to executor. Paths of artifacts do not travel:
// artifacts go as descriptors beside the message, in the program's order.
#pragma once

#include <string>

#include "base/result.h"
#include "records/program.h"

namespace fusefarm::childlink {

std::string program_to_json(const Program& program);

// Strict, and checked by check_program. The result's `artifacts` has the right number of empty
// paths.
Result<Program> program_from_json(std::string_view json);

// Every index, offset, view and size of the program is inside what it refers to; sizes are bounded.
// Sender and receiver both call it. Error: kInvalidArgument, names the buffer or step.
Result<void> check_program(const Program& program);

}  // namespace fusefarm::childlink
