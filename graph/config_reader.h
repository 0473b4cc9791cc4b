// Typed access to the keys of one JSON object of a model config. Remembers which keys were read, so
// that what was neither read nor known to be harmless can be refused.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace fusefarm::graph {

class ConfigReader {
 public:
  // All three must outlive the reader.
  ConfigReader(const nlohmann::json& object, std::string_view text, const std::string& source)
      : object_(object), text_(text), source_(source) {}

  // Absent and null are the same to Hugging Face's configs, and here.
  bool has(const std::string& key);
  const nlohmann::json& value(const std::string& key);  // null when absent

  // Without `otherwise` the key is required. 1 <= value <= max (0 allowed when `zero_ok`).
  Result<std::int64_t> integer(const std::string& key, std::int64_t max,
                               std::optional<std::int64_t> otherwise = std::nullopt,
                               bool zero_ok = false);
  // Finite and positive.
  Result<double> real(const std::string& key, std::optional<double> otherwise = std::nullopt);
  Result<bool> boolean(const std::string& key, bool otherwise);
  Result<std::string> text(const std::string& key, const std::string& otherwise);

  // "glm.json:12: key 'x' is 3: <why>".
  Error wrong(const std::string& key, const std::string& why,
              ErrorCode code = ErrorCode::kInvalidArgument);
  // The key must be absent, or hold `only`.
  Result<void> require(const std::string& key, const nlohmann::json& only, const std::string& why);

  // Refuses keys that nothing read and that are not in `harmless`, unless they switch a feature off
  // (null, false, 0, empty).
  Result<void> refuse_unread(const std::set<std::string>& harmless, const std::string& family);

 private:
  const nlohmann::json& object_;
  std::string_view text_;
  const std::string& source_;
  std::set<std::string> read_;
};

}  // namespace fusefarm::graph
