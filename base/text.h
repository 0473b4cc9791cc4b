// Small text functions that every module may need: strict number parsing, nearest names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusefarm {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Whole-string parse: no sign games, no blanks, no octal, no trailing text, no overflow.
Result<std::int64_t> parse_int(std::string_view text);
Result<double> parse_double(std::string_view text);  // finite only

// The known name nearest to `name` by edit distance (at most 3), or "" when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace fusefarm
