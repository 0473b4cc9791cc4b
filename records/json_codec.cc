#include "records/json_codec.h"

#include <cmath>

#include "base/text.h"

namespace fusefarm::internal {
namespace {

// The offending value as it stands in the document, short enough for an error line.
std::string shown(const Json& value) {
  std::string text = dump(value);
  if (text.size() > 60) {
    text = text.substr(0, 57) + "...";
  }
  return text;
}

std::optional<graph::Dim> dim_from(const std::string& text) {
  const std::size_t star = text.find('*');
  const std::string symbol = star == std::string::npos ? text : text.substr(star + 1);
  graph::Dim dim;
  for (const graph::Symbol known : {graph::Symbol::kTokens, graph::Symbol::kSequences,
                                    graph::Symbol::kSlots, graph::Symbol::kLogitRows}) {
    if (symbol == graph::to_string(known)) {
      dim.symbol = known;
    }
  }
  if (dim.symbol == graph::Symbol::kOne || star != std::string::npos) {
    const Result<std::int64_t> factor = parse_int(text.substr(0, star));
    if (!factor.ok() || *factor < 0) {
      return std::nullopt;
    }
    dim.factor = *factor;
  }
  // One spelling each: "1*T" and "T" would be two texts of one candidate.
  return graph::to_string(dim) == text ? std::optional(dim) : std::nullopt;
}

std::optional<double> real_from(const Json& value) {
  if (value.is_number()) {
    return value.get<double>();
  }
  if (!value.is_string()) {
    return std::nullopt;
  }
  const std::string& text = value.get_ref<const std::string&>();
  if (text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "inf") {
    return std::numeric_limits<double>::infinity();
  }
  if (text == "-inf") {
    return -std::numeric_limits<double>::infinity();
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_from(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto magnitude = value.get<std::uint64_t>();
    if (magnitude > static_cast<std::uint64_t>(kJsonIntMax)) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(magnitude);
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  return std::nullopt;
}

}  // namespace

void JsonProblem::report(const std::string& path, const std::string& what) {
  if (!error) {
    error = Error{ErrorCode::kInvalidArgument, path + ": " + what};
  }
}

JsonObject::JsonObject(JsonProblem& problem, const Json* value, std::string path)
    : problem_(&problem), value_(value), path_(std::move(path)) {
  static const Json nothing = Json::object();
  if (value_ == nullptr || !value_->is_object()) {
    problem_->report(
        path_, (value_ == nullptr ? std::string("nothing") : shown(*value_)) + " is not an object");
    value_ = &nothing;
  }
}

const Json* JsonObject::field(const char* key) {
  read_.insert(key);
  const auto found = value_->find(key);
  if (found == value_->end()) {
    problem_->report(path_of(key), "is missing");
    return nullptr;
  }
  return &*found;
}

void JsonObject::report_field(const char* key, const std::string& expected) {
  problem_->report(path_of(key), shown(*value_->find(key)) + " is not " + expected);
}

std::int64_t JsonObject::integer(const char* key, std::int64_t min, std::int64_t max) {
  const Json* value = field(key);
  if (value == nullptr) {
    return 0;
  }
  const std::optional<std::int64_t> number = integer_from(*value);
  if (!number || *number < min || *number > max) {
    const bool bounded = min != -kJsonIntMax || max != kJsonIntMax;
    report_field(key, "a whole number" +
                          (bounded ? " of " + std::to_string(min) + " to " + std::to_string(max)
                                   : std::string()));
    return 0;
  }
  return *number;
}

int JsonObject::small(const char* key, int min, int max) {
  return static_cast<int>(integer(key, min, max));
}

std::uint64_t JsonObject::unsigned_integer(const char* key) {
  const Json* value = field(key);
  if (value == nullptr) {
    return 0;
  }
  if (!value->is_number_unsigned()) {
    report_field(key, "a whole number of at least 0");
    return 0;
  }
  return value->get<std::uint64_t>();
}

double JsonObject::real(const char* key) {
  const Json* value = field(key);
  if (value == nullptr) {
    return 0;
  }
  const std::optional<double> number = real_from(*value);
  if (!number) {
    report_field(key, "a number");
  }
  return number.value_or(0);
}

bool JsonObject::boolean(const char* key) {
  const Json* value = field(key);
  if (value == nullptr) {
    return false;
  }
  if (!value->is_boolean()) {
    report_field(key, "true or false");
    return false;
  }
  return value->get<bool>();
}

std::string JsonObject::text(const char* key, std::size_t bytes_max) {
  const Json* value = field(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    report_field(key, "a text");
    return {};
  }
  const std::string& content = value->get_ref<const std::string&>();
  if (content.size() > bytes_max) {
    problem_->report(path_of(key), std::to_string(content.size()) + " bytes are more than " +
                                       std::to_string(bytes_max));
    return {};
  }
  return content;
}

Digest JsonObject::digest(const char* key) {
  const std::string hex = text(key, 64);
  const Result<Digest> digest = Digest::from_hex(hex);
  if (!digest.ok() && !problem_->error) {
    report_field(key, "a digest of 64 hexadecimal digits");
  }
  return digest.value_or(Digest{});
}

graph::Dim JsonObject::dim(const char* key) {
  const std::string spelled = text(key, 32);
  const std::optional<graph::Dim> dim = dim_from(spelled);
  if (!dim && !problem_->error) {
    report_field(key, "a dimension such as \"5120\", \"T\" or \"8*T\" (symbols T, B, S, L)");
  }
  return dim.value_or(graph::Dim{});
}

graph::DType JsonObject::dtype(const char* key) {
  const std::string name = text(key, 32);
  const std::optional<graph::DType> dtype = graph::dtype_from(name);
  if (!dtype && !problem_->error) {
    report_field(key, "an element type (f32, bf16, i32)");
  }
  return dtype.value_or(graph::DType::kF32);
}

const Json* JsonObject::array(const char* key, std::size_t count_max) {
  const Json* value = field(key);
  if (value == nullptr) {
    return nullptr;
  }
  if (!value->is_array()) {
    report_field(key, "a list");
    return nullptr;
  }
  if (value->size() > count_max) {
    problem_->report(path_of(key), std::to_string(value->size()) + " elements are more than " +
                                       std::to_string(count_max));
    return nullptr;
  }
  return value;
}

std::vector<std::string> JsonObject::texts(const char* key, std::size_t count_max) {
  std::vector<std::string> out;
  const Json* value = array(key, count_max);
  if (value == nullptr) {
    return out;
  }
  for (const Json& element : *value) {
    if (!element.is_string()) {
      problem_->report(path_of(key), shown(element) + " is not a text");
      return out;
    }
    out.push_back(element.get<std::string>());
  }
  return out;
}

std::vector<std::int64_t> JsonObject::integers(const char* key, std::size_t count_max) {
  std::vector<std::int64_t> out;
  const Json* value = array(key, count_max);
  if (value == nullptr) {
    return out;
  }
  for (const Json& element : *value) {
    const std::optional<std::int64_t> number = integer_from(element);
    if (!number) {
      problem_->report(path_of(key), shown(element) + " is not a whole number");
      return out;
    }
    out.push_back(*number);
  }
  return out;
}

std::map<std::string, std::int64_t> JsonObject::integers_by_name(const char* key) {
  std::map<std::string, std::int64_t> out;
  const Json* value = field(key);
  if (value == nullptr) {
    return out;
  }
  if (!value->is_object()) {
    report_field(key, "an object of whole numbers");
    return out;
  }
  for (const auto& [name, element] : value->items()) {
    const std::optional<std::int64_t> number = integer_from(element);
    if (!number) {
      problem_->report(path_of(key) + "." + name, shown(element) + " is not a whole number");
      return out;
    }
    out[name] = *number;
  }
  return out;
}

std::map<std::string, double> JsonObject::reals_by_name(const char* key) {
  std::map<std::string, double> out;
  const Json* value = field(key);
  if (value == nullptr) {
    return out;
  }
  if (!value->is_object()) {
    report_field(key, "an object of numbers");
    return out;
  }
  for (const auto& [name, element] : value->items()) {
    const std::optional<double> number = real_from(element);
    if (!number) {
      problem_->report(path_of(key) + "." + name, shown(element) + " is not a number");
      return out;
    }
    out[name] = *number;
  }
  return out;
}

std::size_t JsonObject::one_of(const char* key, const std::vector<std::string>& names) {
  const std::string name = text(key, 64);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return i;
    }
  }
  if (!problem_->error) {
    report_field(key, "one of " + join(names, ", "));
  }
  return 0;
}

void JsonObject::close() {
  if (problem_->error) {
    return;
  }
  for (const auto& item : value_->items()) {
    if (read_.contains(item.key())) {
      continue;
    }
    const std::string near = nearest_name(item.key(), {read_.begin(), read_.end()});
    problem_->report(path_ + "." + item.key(),
                     near.empty() ? "unknown field" : "unknown field; did you mean " + near + "?");
    return;
  }
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json encode_real(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

Json encode_reals(const std::map<std::string, double>& values) {
  Json out = Json::object();
  for (const auto& [name, value] : values) {
    out[name] = encode_real(value);
  }
  return out;
}

Result<Json> parse_document(std::string_view text, const std::string& what) {
  constexpr int kDepthMax = 32;
  std::vector<std::set<std::string>> names;
  std::string problem;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDepthMax && problem.empty()) {
      problem = "is nested deeper than " + std::to_string(kDepthMax);
    }
    if (event == Json::parse_event_t::object_start) {
      names.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      names.pop_back();
    } else if (event == Json::parse_event_t::key && problem.empty() &&
               !names.back().insert(parsed.get<std::string>()).second) {
      problem = "field " + shown(parsed) + " stands there twice";
    }
    return true;
  };
  try {
    Json document = Json::parse(text, watch);
    if (!problem.empty()) {
      return Error{ErrorCode::kInvalidArgument, what + " " + problem};
    }
    return document;
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::kInvalidArgument, what + " is not JSON: " + error.what()};
  }
}

}  // namespace fusefarm::internal
