#include "childlink/json_reader.h"

#include <cmath>

namespace fusefarm::childlink {

Result<Json> parse_object(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return Error{ErrorCode::kIntegrity, "a message is no JSON object"};
  }
  return json;
}

Result<ObjectReader> ObjectReader::open(const Json& json, std::string where) {
  if (!json.is_object()) {
    return Error{ErrorCode::kIntegrity, where + " is no object"};
  }
  return ObjectReader(json, std::move(where));
}

Error ObjectReader::wrong(const std::string& key, const std::string& why) const {
  return {ErrorCode::kIntegrity, where_ + "." + key + " " + why};
}

Result<const Json*> ObjectReader::member(const char* key) {
  const auto found = json_->find(key);
  if (found == json_->end()) {
    return wrong(key, "is missing");
  }
  asked_.insert(key);
  return &*found;
}

Result<std::int64_t> ObjectReader::integer(const char* key, std::int64_t least, std::int64_t most) {
  const Json* value = TRY(member(key));
  const bool fits =
      value->is_number_integer() &&
      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits) {
    return wrong(key, "is no integer");
  }
  const auto number = value->get<std::int64_t>();
  if (number < least || number > most) {
    return wrong(key, "is " + std::to_string(number) + ", outside " + std::to_string(least) + ".." +
                          std::to_string(most));
  }
  return number;
}

Result<double> ObjectReader::real(const char* key) {
  const Json* value = TRY(member(key));
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    return wrong(key, "is no finite number");
  }
  return value->get<double>();
}

Result<bool> ObjectReader::boolean(const char* key) {
  const Json* value = TRY(member(key));
  if (!value->is_boolean()) {
    return wrong(key, "is no boolean");
  }
  return value->get<bool>();
}

Result<std::string> ObjectReader::text(const char* key, std::size_t bytes_max) {
  const Json* value = TRY(member(key));
  if (!value->is_string()) {
    return wrong(key, "is no string");
  }
  auto string = value->get<std::string>();
  if (string.size() > bytes_max) {
    return wrong(key, "is longer than " + std::to_string(bytes_max) + " bytes");
  }
  return string;
}

Result<const Json*> ObjectReader::array(const char* key, std::size_t elements_max) {
  const Json* value = TRY(member(key));
  if (!value->is_array()) {
    return wrong(key, "is no array");
  }
  if (value->size() > elements_max) {
    return wrong(key, "has more than " + std::to_string(elements_max) + " elements");
  }
  return value;
}

Result<const Json*> ObjectReader::object(const char* key) {
  const Json* value = TRY(member(key));
  if (!value->is_object()) {
    return wrong(key, "is no object");
  }
  return value;
}

Result<void> ObjectReader::finish() const {
  for (const auto& [key, value] : json_->items()) {
    if (!asked_.contains(key)) {
      return wrong(key, "is unknown");
    }
  }
  return {};
}

}  // namespace fusefarm::childlink
