// What the strict JSON codecs of this module share. Internal to records: other modules use
// campaign_json.h, candidate_json.h, launch_plan_json.h, measurement_json.h, outcome_json.h and
// job_json.h.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/result.h"
#include "graph/dim.h"
#include "graph/dtype.h"

namespace fusefarm::internal {

using Json = nlohmann::json;

constexpr std::int64_t kJsonIntMax = std::numeric_limits<std::int64_t>::max();

// The first thing that was wrong. Readers keep going with default values after it, so that decoding
// reads as a list of fields.
struct JsonProblem {
  std::optional<Error> error;
  void report(const std::string& path, const std::string& what);
};

// One object whose fields are all read by name; close() reports those that nobody asked for.
class JsonObject {
 public:
  // `value` is borrowed and must outlive the reader; nullptr: its absence was reported.
  JsonObject(JsonProblem& problem, const Json* value, std::string path);

  bool has(const char* key) const { return value_->contains(key); }

  std::int64_t integer(const char* key, std::int64_t min = -kJsonIntMax,
                       std::int64_t max = kJsonIntMax);
  int small(const char* key, int min = 0, int max = std::numeric_limits<int>::max());
  std::uint64_t unsigned_integer(const char* key);
  double real(const char* key);  // a number, or "nan", "inf", "-inf"
  bool boolean(const char* key);
  std::string text(const char* key, std::size_t bytes_max = std::size_t{1} << 20);
  Digest digest(const char* key);
  graph::Dim dim(const char* key);
  graph::DType dtype(const char* key);
  std::vector<std::string> texts(const char* key, std::size_t count_max);
  std::vector<std::int64_t> integers(const char* key, std::size_t count_max);
  std::map<std::string, std::int64_t> integers_by_name(const char* key);
  std::map<std::string, double> reals_by_name(const char* key);
  // One of `names`; its position.
  std::size_t one_of(const char* key, const std::vector<std::string>& names);

  // The value of a field that must be there, or nullptr (reported).
  const Json* field(const char* key);

  // A problem of the object as a whole.
  void report(const std::string& what) { problem_->report(path_, what); }

  std::string path_of(const char* key) const { return path_ + "." + key; }

  // decode(JsonObject&) of a nested object.
  template <class Decode>
  auto object(const char* key, Decode decode) {
    const Json* value = field(key);
    JsonObject nested(*problem_, value, path_of(key));
    auto result = decode(nested);
    nested.close();
    return result;
  }

  // The same, or nothing where the field is null.
  template <class Decode>
  auto optional_object(const char* key, Decode decode) {
    const Json* value = field(key);
    using T = decltype(object(key, decode));
    if (value == nullptr || value->is_null()) {
      return std::optional<T>();
    }
    return std::optional<T>(object(key, decode));
  }

  // decode(JsonObject&) of every element of an array of objects.
  template <class Decode>
  auto objects(const char* key, std::size_t count_max, Decode decode) {
    std::vector<decltype(decode(*this))> out;
    const Json* value = array(key, count_max);
    if (value == nullptr) {
      return out;
    }
    for (std::size_t i = 0; i < value->size() && !problem_->error; ++i) {
      JsonObject nested(*problem_, &(*value)[i], path_of(key) + "[" + std::to_string(i) + "]");
      out.push_back(decode(nested));
      nested.close();
    }
    return out;
  }

  void close();

 private:
  const Json* array(const char* key, std::size_t count_max);
  void report_field(const char* key, const std::string& expected);

  JsonProblem* problem_;
  const Json* value_;
  std::string path_;
  std::set<std::string, std::less<>> read_;
};

// JSON text of a value; text that is not UTF-8 is replaced, not refused.
std::string dump(const Json& value);
Json encode_real(double value);
Json encode_reals(const std::map<std::string, double>& values);

// Parses one document that is an object with "version": `version`, strictly (no duplicate names),
// and hands its object to `decode`. `what` names the kind of document in errors.
Result<Json> parse_document(std::string_view text, const std::string& what);

template <class Decode>
auto decode_document(std::string_view text, const std::string& what, int version, Decode decode)
    -> Result<decltype(decode(std::declval<JsonObject&>()))> {
  const Json document = TRY(parse_document(text, what));
  JsonProblem problem;
  JsonObject object(problem, &document, what);
  const int found = object.small("version", 1);
  if (!problem.error && found != version) {
    problem.report(what + ".version", std::to_string(found) +
                                          " is not a version that is read here (" +
                                          std::to_string(version) + ")");
  }
  auto result = decode(object);
  object.close();
  if (problem.error) {
    return *problem.error;
  }
  return result;
}

// A document that is written without a version of its own, because it is part of others.
template <class Decode>
auto decode_part(std::string_view text, const std::string& what, Decode decode)
    -> Result<decltype(decode(std::declval<JsonObject&>()))> {
  const Json document = TRY(parse_document(text, what));
  JsonProblem problem;
  JsonObject object(problem, &document, what);
  auto result = decode(object);
  object.close();
  if (problem.error) {
    return *problem.error;
  }
  return result;
}

}  // namespace fusefarm::internal
