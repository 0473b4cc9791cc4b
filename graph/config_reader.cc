#include "graph/config_reader.h"

#include <cmath>

#include "graph/strict_json.h"

namespace fusefarm::graph {
namespace {

const nlohmann::json kNull;

bool switched_off(const nlohmann::json& value) {
  if (value.is_number()) {
    return value.get<double>() == 0;
  }
  if (value.is_boolean()) {
    return !value.get<bool>();
  }
  return value.empty() || (value.is_string() && value.get_ref<const std::string&>().empty());
}

}  // namespace

bool ConfigReader::has(const std::string& key) { return !value(key).is_null(); }

const nlohmann::json& ConfigReader::value(const std::string& key) {
  read_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() ? kNull : *found;
}

Error ConfigReader::wrong(const std::string& key, const std::string& why, ErrorCode code) {
  const nlohmann::json& given = value(key);
  const int line = line_of_key(text_, key);
  return Error{code, source_ + (line > 0 ? ":" + std::to_string(line) : "") + ": key '" + key +
                         "' " + (given.is_null() ? "is missing" : "is " + shown(given)) + ": " +
                         why};
}

Result<std::int64_t> ConfigReader::integer(const std::string& key, std::int64_t max,
                                           std::optional<std::int64_t> otherwise, bool zero_ok) {
  const nlohmann::json& given = value(key);
  if (given.is_null() && otherwise) {
    return *otherwise;
  }
  const std::int64_t least = zero_ok ? 0 : 1;
  const std::string range =
      "set it to a whole number from " + std::to_string(least) + " to " + std::to_string(max);
  if (!given.is_number_integer()) {
    return wrong(key, range);
  }
  // An unsigned value past the signed range would wrap.
  if (given.is_number_unsigned() && given.get<std::uint64_t>() > static_cast<std::uint64_t>(max)) {
    return wrong(key, range);
  }
  const auto number = given.get<std::int64_t>();
  if (number < least || number > max) {
    return wrong(key, range);
  }
  return number;
}

Result<double> ConfigReader::real(const std::string& key, std::optional<double> otherwise) {
  const nlohmann::json& given = value(key);
  if (given.is_null() && otherwise) {
    return *otherwise;
  }
  if (!given.is_number()) {
    return wrong(key, "set it to a positive number");
  }
  const double number = given.get<double>();
  if (!std::isfinite(number) || number <= 0) {
    return wrong(key, "set it to a positive number");
  }
  return number;
}

Result<bool> ConfigReader::boolean(const std::string& key, bool otherwise) {
  const nlohmann::json& given = value(key);
  if (given.is_null()) {
    return otherwise;
  }
  if (!given.is_boolean()) {
    return wrong(key, "set it to true or false");
  }
  return given.get<bool>();
}

Result<std::string> ConfigReader::text(const std::string& key, const std::string& otherwise) {
  const nlohmann::json& given = value(key);
  if (given.is_null()) {
    return otherwise;
  }
  if (!given.is_string()) {
    return wrong(key, "set it to a string");
  }
  return given.get<std::string>();
}

Result<void> ConfigReader::require(const std::string& key, const nlohmann::json& only,
                                   const std::string& why) {
  const nlohmann::json& given = value(key);
  if (given.is_null() || given == only) {
    return {};
  }
  return wrong(key, why, ErrorCode::kUnsupported);
}

Result<void> ConfigReader::refuse_unread(const std::set<std::string>& harmless,
                                         const std::string& family) {
  for (const auto& [key, given] : object_.items()) {
    if (read_.contains(key) || harmless.contains(key) || switched_off(given)) {
      continue;
    }
    return wrong(key,
                 "not known for family '" + family +
                     "', and it may change what the model computes; remove it if it does not",
                 ErrorCode::kUnsupported);
  }
  return {};
}

}  // namespace fusefarm::graph
