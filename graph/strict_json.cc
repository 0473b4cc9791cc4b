#include "graph/strict_json.h"

#include <algorithm>
#include <set>
#include <vector>

namespace fusefarm::graph {
namespace {

constexpr int kNestingMax = 64;

// Puts quotes around Infinity, -Infinity and NaN where they stand outside of strings.
std::string quote_nonfinite(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i];
      out += text[++i];
      continue;
    }
    if (text[i] == '"') {
      in_string = !in_string;
    }
    std::string_view literal;
    for (const std::string_view known : {"-Infinity", "Infinity", "NaN"}) {
      if (!in_string && literal.empty() && text.substr(i).starts_with(known)) {
        literal = known;
      }
    }
    if (literal.empty()) {
      out += text[i];
    } else {
      out.append("\"").append(literal).append("\"");
      i += literal.size() - 1;
    }
  }
  return out;
}

struct KeyWatcher {
  std::vector<std::set<std::string>> open;
  std::string duplicate;
  bool too_deep = false;

  bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    too_deep = too_deep || depth > kNestingMax;
    if (event == Event::object_start) {
      open.emplace_back();
    }
    if (event == Event::object_end && !open.empty()) {
      open.pop_back();
    }
    if (event == Event::key && !open.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open.back().insert(key).second && duplicate.empty()) {
        duplicate = key;
      }
    }
    return true;
  }
};

}  // namespace

int line_of_key(std::string_view text, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  for (std::size_t at = text.find(quoted); at != std::string_view::npos;
       at = text.find(quoted, at + 1)) {
    const std::size_t colon = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (colon == std::string_view::npos || text[colon] != ':') {
      continue;
    }
    return 1 +
           static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
  }
  return 0;
}

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > 80) {
    text = text.substr(0, 77) + "...";
  }
  return text;
}

Result<nlohmann::json> parse_strict_json(std::string_view text, const std::string& source,
                                         bool tolerate_nonfinite) {
  const std::string quoted = tolerate_nonfinite ? quote_nonfinite(text) : std::string(text);
  KeyWatcher watcher;
  try {
    nlohmann::json parsed = nlohmann::json::parse(
        quoted, [&watcher](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
          return watcher(depth, event, value);
        });
    if (watcher.too_deep) {
      return Error{ErrorCode::kInvalidArgument,
                   source + ": nested deeper than " + std::to_string(kNestingMax) + " levels"};
    }
    if (!watcher.duplicate.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   source + ":" + std::to_string(line_of_key(text, watcher.duplicate)) + ": key '" +
                       watcher.duplicate.substr(0, 80) + "' is given twice; remove one"};
    }
    return parsed;
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..." without its tag.
    std::string what = error.what();
    if (const std::size_t tag = what.find("] "); tag != std::string::npos) {
      what.erase(0, tag + 2);
    }
    return Error{ErrorCode::kInvalidArgument, source + ": not valid JSON: " + what.substr(0, 300)};
  }
}

}  // namespace fusefarm::graph
