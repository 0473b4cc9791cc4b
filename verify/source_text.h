// Part of the static check: what a candidate's C++ text may not say. A text filter is no sandbox;
// it refuses early and with a reason what the artifact check and the sandbox would refuse later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusefarm::verify {

// A C identifier that is not reserved (no leading underscore).
bool is_identifier(std::string_view name);

// Why the source is refused, with its line, or "" when nothing speaks against it. Allowed at file
// scope: functions, types, constants. `linked` may be declared extern "C".
std::string forbidden_text(std::string_view source, const std::vector<std::string>& linked);

}  // namespace fusefarm::verify
