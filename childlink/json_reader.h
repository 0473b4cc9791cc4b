// Strict reading of JSON objects that a distrusted peer sent: missing, unknown, ill-typed and
// out-of-range members are errors that name the member. Private to childlink's codecs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace fusefarm::childlink {

using Json = nlohmann::json;

// Never throws. kIntegrity when the text is no JSON object.
Result<Json> parse_object(std::string_view text);

// Reads members of one object; borrows it. finish() refuses members that nobody asked for.
class ObjectReader {
 public:
  // `where` names the object in errors: "program.buffers[3]".
  static Result<ObjectReader> open(const Json& json, std::string where);

  Result<std::int64_t> integer(const char* key, std::int64_t least, std::int64_t most);
  Result<double> real(const char* key);
  Result<bool> boolean(const char* key);
  Result<std::string> text(const char* key, std::size_t bytes_max);
  // The array's elements; the pointer is into the object.
  Result<const Json*> array(const char* key, std::size_t elements_max);
  Result<const Json*> object(const char* key);
  Result<void> finish() const;

  const std::string& where() const { return where_; }

  Error wrong(const std::string& key, const std::string& why) const;

 private:
  ObjectReader(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  Result<const Json*> member(const char* key);

  const Json* json_;
  std::string where_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace fusefarm::childlink
