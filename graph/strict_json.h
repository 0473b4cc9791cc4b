// JSON as we accept it from outside: no duplicate keys, bounded nesting, errors with a place.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace fusefarm::graph {

// `source` names the text in errors: "glm.json:12: ...". Python's JSON writer emits Infinity and
// NaN, which are not JSON: with `tolerate_nonfinite` they are read as strings of that name, so that
// the reader of the key can refuse or ignore them.
Result<nlohmann::json> parse_strict_json(std::string_view text, const std::string& source,
                                         bool tolerate_nonfinite);

// Line (from 1) of the first `"key":` in the text, or 0.
int line_of_key(std::string_view text, std::string_view key);

// A value as a person reads it in an error, at most 80 characters.
std::string shown(const nlohmann::json& value);

}  // namespace fusefarm::graph
