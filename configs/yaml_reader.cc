#include "configs/yaml_reader.h"

#include <algorithm>

#include "base/text.h"

namespace fusefarm::configs {
namespace {

constexpr std::size_t kNameMax = 64;

std::string shown(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      return "a map";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Scalar: {
      const std::string& text = node.Scalar();
      return "'" + (text.size() > 60 ? text.substr(0, 57) + "..." : text) + "'";
    }
    default:
      return "nothing";
  }
}

// yaml-cpp tags quoted scalars "!" and plain ones "?".
bool is_quoted(const YAML::Node& node) { return node.Tag() == "!"; }

std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

// As in JSON: parse_double() alone would take ".5" and "5." as well.
bool has_digits_around_point(const std::string& text) {
  const std::size_t point = text.find('.');
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (!digit(first) || (text[first] == '0' && digit(first + 1))) {
    return false;
  }
  return point == std::string::npos || digit(point + 1);
}

bool is_name(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= kNameMax && std::ranges::all_of(text, allowed) &&
         text.front() != '.' && text.front() != '-';
}

}  // namespace

Result<YAML::Node> parse_yaml(std::string_view text, const std::string& source) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() == 1 && documents.front().IsMap()) {
      return documents.front();
    }
    return Error{ErrorCode::kInvalidArgument,
                 source + ": holds " +
                     (documents.size() == 1 ? shown(documents.front())
                                            : std::to_string(documents.size()) + " documents") +
                     " instead of one map of keys; see `fusefarm run --explain-config`"};
  } catch (const YAML::Exception& error) {
    Problem problem(source);
    problem.report(error.mark, "not valid YAML: " + error.msg);
    return problem.error();
  }
}

void Problem::report(const YAML::Mark& mark, const std::string& what, ErrorCode code) {
  if (error_) {
    return;
  }
  std::string place = source_;
  if (!mark.is_null()) {
    place += ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
  }
  error_ = Error{code, place + ": " + what};
}

YamlMap::YamlMap(Problem& problem, YAML::Node node, std::string path, YAML::Mark parent)
    : problem_(&problem), path_(std::move(path)), mark_(parent) {
  if (!node.IsDefined()) {
    return;
  }
  mark_ = node.Mark();
  if (!node.IsMap()) {
    const std::string name = path_.empty() ? "the file" : path_.substr(0, path_.size() - 1);
    problem_->report(mark_, name + ": " + shown(node) + " is not a map of keys");
    return;
  }
  for (const auto& item : node) {
    if (!item.first.IsScalar()) {
      problem_->report(item.first.Mark(), "a key is a text, not " + shown(item.first));
      return;
    }
    const std::string& key = item.first.Scalar();
    if (const Entry* earlier = find(key)) {
      problem_->report(item.first.Mark(), "key '" + path_ + key +
                                              "' stands there twice, first in line " +
                                              std::to_string(earlier->mark.line + 1));
      return;
    }
    entries_.push_back({key, item.first.Mark(), item.second});
  }
}

const YamlMap::Entry* YamlMap::find(std::string_view key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) {
      return &entry;
    }
  }
  return nullptr;
}

void YamlMap::report_value(const Entry& entry, const std::string& allowed) {
  problem_->report(entry.value.Mark(), path_ + entry.key + ": " + shown(entry.value) +
                                           " is not allowed; allowed is " + allowed);
}

const YamlMap::Entry* YamlMap::take(const char* key, bool required) {
  asked_.emplace_back(key);
  const Entry* entry = find(key);
  if (entry == nullptr) {
    if (required) {
      problem_->report(mark_,
                       "key '" + path_ + key + "' is missing; see `fusefarm run --explain-config`");
    }
    return nullptr;
  }
  return entry;
}

std::int64_t YamlMap::integer(const char* key, IntRange range,
                              std::optional<std::int64_t> otherwise) {
  const Entry* entry = take(key, !otherwise);
  if (entry == nullptr) {
    return otherwise.value_or(range.min);
  }
  const std::string allowed =
      "a whole number of " + std::to_string(range.min) + " to " + std::to_string(range.max);
  if (!entry->value.IsScalar() || is_quoted(entry->value)) {
    report_value(*entry, allowed + ", without quotes");
    return range.min;
  }
  const Result<std::int64_t> value = parse_int(entry->value.Scalar());
  if (!value.ok() || *value < range.min || *value > range.max) {
    report_value(*entry, allowed);
    return range.min;
  }
  return *value;
}

double YamlMap::real(const char* key, RealRange range, std::optional<double> otherwise) {
  const Entry* entry = take(key, !otherwise);
  if (entry == nullptr) {
    return otherwise.value_or(range.max);
  }
  const std::string allowed = std::string("a number ") +
                              (range.min_allowed ? "of at least " : "above ") +
                              number_text(range.min) + " and at most " + number_text(range.max);
  if (!entry->value.IsScalar() || is_quoted(entry->value)) {
    report_value(*entry, allowed + ", without quotes");
    return range.max;
  }
  const Result<double> value = parse_double(entry->value.Scalar());
  if (!value.ok() || !has_digits_around_point(entry->value.Scalar()) || *value > range.max ||
      *value < range.min || (!range.min_allowed && *value == range.min)) {
    report_value(*entry, allowed);
    return range.max;
  }
  return *value;
}

std::string YamlMap::text(const char* key, std::optional<std::string> otherwise) {
  const Entry* entry = take(key, !otherwise);
  if (entry == nullptr) {
    return otherwise.value_or("");
  }
  if (!entry->value.IsScalar() || entry->value.Scalar().empty() ||
      entry->value.Scalar().find('\0') != std::string::npos) {
    report_value(*entry, "a text");
    return {};
  }
  return entry->value.Scalar();
}

std::string YamlMap::name(const char* key, std::optional<std::string> otherwise) {
  const std::string value = text(key, std::move(otherwise));
  const Entry* entry = find(key);
  if (entry != nullptr && !is_name(value)) {
    report_value(*entry, "a name of letters, digits, '.', '_' and '-', at most " +
                             std::to_string(kNameMax) + " long, not beginning with '.' or '-'");
  }
  return value;
}

std::string YamlMap::check_choice(const Entry& entry, const YAML::Node& value,
                                  const std::vector<std::string>& allowed,
                                  const std::vector<Reserved>& reserved) {
  const std::string text = value.IsScalar() ? value.Scalar() : std::string();
  if (std::ranges::find(allowed, text) != allowed.end()) {
    return text;
  }
  for (const Reserved& known : reserved) {
    if (known.name == text) {
      problem_->report(value.Mark(),
                       path_ + entry.key + ": '" + text + "' is not supported: " + known.why +
                           "; supported: " + join(allowed, ", "),
                       ErrorCode::kUnsupported);
      return {};
    }
  }
  const std::string near = nearest_name(text, allowed);
  problem_->report(value.Mark(), path_ + entry.key + ": " + shown(value) +
                                     " is not allowed; allowed is " + join(allowed, ", ") +
                                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
  return {};
}

std::string YamlMap::one_of(const char* key, const std::vector<std::string>& allowed,
                            std::optional<std::string> otherwise,
                            const std::vector<Reserved>& reserved) {
  const Entry* entry = take(key, !otherwise);
  if (entry == nullptr) {
    return otherwise.value_or("");
  }
  return check_choice(*entry, entry->value, allowed, reserved);
}

std::vector<std::string> YamlMap::some_of(const char* key, const std::vector<std::string>& allowed,
                                          std::vector<std::string> otherwise,
                                          const std::vector<Reserved>& reserved) {
  const Entry* entry = take(key, false);
  if (entry == nullptr) {
    return otherwise;
  }
  std::vector<std::string> out;
  if (!entry->value.IsSequence() || entry->value.size() == 0) {
    report_value(*entry, "a list of some of " + join(allowed, ", "));
    return out;
  }
  for (const YAML::Node& element : entry->value) {
    const std::string choice = check_choice(*entry, element, allowed, reserved);
    if (!choice.empty() && std::ranges::find(out, choice) != out.end()) {
      problem_->report(element.Mark(), path_ + key + ": '" + choice + "' stands there twice");
    }
    if (problem_->found()) {
      return out;
    }
    out.push_back(choice);
  }
  return out;
}

YamlMap YamlMap::map(const char* key, bool required) {
  const Entry* entry = take(key, required);
  return {*problem_, entry == nullptr ? YAML::Node(YAML::NodeType::Undefined) : entry->value,
          path_ + key + ".", mark_};
}

std::vector<YamlMap> YamlMap::maps(const char* key, std::size_t count_max) {
  std::vector<YamlMap> out;
  const Entry* entry = take(key, true);
  if (entry == nullptr) {
    return out;
  }
  if (!entry->value.IsSequence() || entry->value.size() == 0 || entry->value.size() > count_max) {
    report_value(*entry, "a list of 1 to " + std::to_string(count_max) + " maps");
    return out;
  }
  for (const YAML::Node& element : entry->value) {
    out.emplace_back(*problem_, element, path_ + key + "[" + std::to_string(out.size()) + "].",
                     element.Mark());
  }
  return out;
}

void YamlMap::unsupported(const char* key, const std::string& why) {
  const Entry* entry = take(key, false);
  if (entry != nullptr) {
    problem_->report(entry->mark, "key '" + path_ + key + "' is not supported: " + why,
                     ErrorCode::kUnsupported);
  }
}

void YamlMap::report(const char* key, const std::string& what, ErrorCode code) {
  const Entry* entry = find(key);
  problem_->report(entry == nullptr ? mark_ : entry->value.Mark(), path_ + key + ": " + what, code);
}

void YamlMap::close() {
  for (const Entry& entry : entries_) {
    if (std::ranges::find(asked_, entry.key) != asked_.end()) {
      continue;
    }
    const std::string near = nearest_name(entry.key, asked_);
    std::vector<std::string> known = asked_;
    std::ranges::sort(known);
    problem_->report(entry.mark, "unknown key '" + path_ + entry.key + "'; " +
                                     (near.empty() ? "" : "did you mean '" + near + "'? ") +
                                     "known here: " + join(known, ", "));
    return;
  }
}

}  // namespace fusefarm::configs
