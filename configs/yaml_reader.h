// Strict reading of YAML maps: unknown, duplicate, missing and ill-typed keys are errors with their
// place. The only code that knows yaml-cpp. Internal to configs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "base/result.h"

namespace fusefarm::configs {

// One document, parsed. yaml-cpp's exceptions end here.
Result<YAML::Node> parse_yaml(std::string_view text, const std::string& source);

// Keeps the first problem; readers go on with defaults after it, so that reading a file is a list
// of its keys.
class Problem {
 public:
  explicit Problem(std::string source) : source_(std::move(source)) {}

  // "<source>:<line>:<column>: <what>"
  void report(const YAML::Mark& mark, const std::string& what,
              ErrorCode code = ErrorCode::kInvalidArgument);

  bool found() const { return error_.has_value(); }

  const Error& error() const { return *error_; }

 private:
  std::string source_;
  std::optional<Error> error_;
};

struct IntRange {
  std::int64_t min = 0, max = 0;
};

struct RealRange {
  double min = 0, max = 0;
  bool min_allowed = true;  // whether `min` itself is
};

// A value that a key could have if this program did it.
struct Reserved {
  std::string name;
  std::string why;
};

// One map. Each key is asked for once, by name; close() then reports what nobody asked for.
class YamlMap {
 public:
  // `path` is what stands before a key in errors: "" or "search.". An undefined node is an empty
  // map.
  YamlMap(Problem& problem, YAML::Node node, std::string path, YAML::Mark parent);

  bool has(const char* key) const { return find(key) != nullptr; }

  // Without a default the key must be there.
  std::int64_t integer(const char* key, IntRange range, std::optional<std::int64_t> otherwise = {});
  double real(const char* key, RealRange range, std::optional<double> otherwise = {});
  std::string text(const char* key, std::optional<std::string> otherwise = {});
  // Letters, digits and . _ - only, so that it can be part of file names and metrics.
  std::string name(const char* key, std::optional<std::string> otherwise = {});
  // One of `allowed`; of `reserved` it is kUnsupported.
  std::string one_of(const char* key, const std::vector<std::string>& allowed,
                     std::optional<std::string> otherwise = {},
                     const std::vector<Reserved>& reserved = {});
  std::vector<std::string> some_of(const char* key, const std::vector<std::string>& allowed,
                                   std::vector<std::string> otherwise,
                                   const std::vector<Reserved>& reserved = {});
  YamlMap map(const char* key, bool required = false);
  std::vector<YamlMap> maps(const char* key, std::size_t count_max);
  // A key that this program understands but does not do.
  void unsupported(const char* key, const std::string& why);

  // A problem with the value of a key that is there, or with the map.
  void report(const char* key, const std::string& what,
              ErrorCode code = ErrorCode::kInvalidArgument);

  Problem& problem() { return *problem_; }

  void close();

 private:
  struct Entry {
    std::string key;
    YAML::Mark mark;
    YAML::Node value;
  };

  const Entry* find(std::string_view key) const;
  const Entry* take(const char* key, bool required);  // a scalar, or nullptr (reported if required)
  std::string check_choice(const Entry& entry, const YAML::Node& value,
                           const std::vector<std::string>& allowed,
                           const std::vector<Reserved>& reserved);
  void report_value(const Entry& entry, const std::string& allowed);

  Problem* problem_;
  std::string path_;
  YAML::Mark mark_;
  std::vector<Entry> entries_;
  std::vector<std::string> asked_;
};

}  // namespace fusefarm::configs
