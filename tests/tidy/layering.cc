#include "tests/tidy/layering.h"

#include <cctype>
#include <regex>

namespace fusefarm::tidy {
namespace {

// The words of CMake text; comments are left out, parentheses are words of their own.
std::vector<std::string> cmake_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool comment = false;
  const auto finish = [&] {
    if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  };
  for (const char c : text) {
    if (comment) {
      comment = c != '\n';
      continue;
    }
    comment = c == '#';
    if (c == '(' || c == ')') {
      finish();
      words.emplace_back(1, c);
    } else if (comment || std::isspace(static_cast<unsigned char>(c)) != 0 || c == '"') {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return words;
}

bool is_keyword(const std::string& word) {
  static const std::regex keyword("[A-Z_]+");
  return std::regex_match(word, keyword);
}

}  // namespace

ModuleList parse_module_list(std::string_view cmake) {
  ModuleList list;
  bool in_deps = false;
  for (const std::string& word : cmake_words(cmake)) {
    list.tokens.insert(word);
    if (word == "(" || word == ")" || is_keyword(word)) {
      in_deps = word == "DEPS";
    } else if (in_deps) {
      list.deps.insert(word);
    }
  }
  return list;
}

std::map<std::string, int> parse_levels(std::string_view cmake) {
  static const std::regex name("FUSEFARM_LEVEL_([0-9]+)");
  std::map<std::string, int> levels;
  int level = -1;
  for (const std::string& word : cmake_words(cmake)) {
    std::smatch match;
    if (std::regex_match(word, match, name)) {
      level = std::stoi(match[1]);
    } else if (word == ")") {
      level = -1;
    } else if (level >= 0 && word.find('$') == std::string::npos) {
      levels[word] = level;
    }
  }
  return levels;
}

std::string module_of(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

std::vector<Finding> check_includes(const SourceFile& file, const ModuleList& list,
                                    const std::map<std::string, int>& levels) {
  static const std::regex include(R"re(^\s*#\s*include\s*"([^"]+)")re");
  const std::string own = module_of(file.path);
  std::vector<Finding> findings;
  int number = 0;
  for (const std::string_view line : split_lines(file.text)) {
    ++number;
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_search(line.begin(), line.end(), match, include)) {
      continue;
    }
    const std::string other = module_of(match.str(1));
    if (other == own) {
      continue;
    }
    const auto level = levels.find(other);
    if (level == levels.end()) {
      findings.push_back({file.path, number, "\"" + match.str(1) + "\" is of no module"});
    } else if (level->second >= levels.at(own)) {
      findings.push_back({file.path, number, own + " may not include " + other + ": not below it"});
    } else if (!list.deps.contains(other)) {
      findings.push_back({file.path, number, own + " includes " + other + ", not in its DEPS"});
    }
  }
  return findings;
}

std::vector<Finding> check_listed(const SourceFile& file, const ModuleList& list) {
  const std::string inside = file.path.substr(module_of(file.path).size() + 1);
  if (list.tokens.contains(inside)) {
    return {};
  }
  return {{file.path, 0, "not named by the CMakeLists.txt of its module"}};
}

}  // namespace fusefarm::tidy
