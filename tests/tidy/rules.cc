#include "tests/tidy/rules.h"

#include <algorithm>
#include <array>
#include <regex>

namespace fusefarm::tidy {
namespace {

// A word that code may hold only below the paths named.
struct BannedWord {
  std::string pattern;
  std::string reason;
  std::vector<std::string> allowed_below;
};

const std::vector<BannedWord>& banned_words() {
  static const std::vector<BannedWord> words{
      {R"(\b(steady|system|high_resolution)_clock::now\b|\bclock_gettime\b|\bgettimeofday\b)",
       "time comes in as an argument; only base/clock.cc asks the system",
       {"base/clock.cc"}},
      {R"(\b(sleep_for|sleep_until|usleep|nanosleep)\b)", "wait for an event, not for time", {}},
      {R"(\bs?rand\s*\(|\brandom_device\b)", "use the seeded random of base", {}},
      {R"(\bstd::cout\b)", "only cli writes to the terminal", {"cli/", "tests/", "bench/"}},
      {R"(\b(secure_)?getenv\b)",
       "settings come from configs",
       {"configs/", "cli/", "tests/", "bench/"}},
      {R"(\bnew\s+[A-Za-z_:(]|\bnew\s*\()", "use values or make_unique", {}},
      {R"(\bdelete(\s*\[\s*\])?\s+[A-Za-z_*(:]|\bdelete\s*[(\[])", "owners free, not code", {}},
      {R"((\.|->)\s*detach\s*\()", "a thread has an owner that joins it", {}},
  };
  return words;
}

bool lives_below(const SourceFile& file, const std::vector<std::string>& folders) {
  return std::ranges::any_of(
      folders, [&](const std::string& folder) { return file.path.starts_with(folder); });
}

std::size_t columns(std::string_view line) {
  // UTF-8: every byte but a continuation byte starts a character.
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Every line of `text` where `pattern` is found, as a finding with `what`.
std::vector<Finding> search_lines(const SourceFile& file, std::string_view text,
                                  const std::regex& pattern, const std::string& what) {
  std::vector<Finding> findings;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (std::regex_search(line.begin(), line.end(), pattern)) {
      findings.push_back({file.path, number, what});
    }
  }
  return findings;
}

void append(std::vector<Finding>& all, std::vector<Finding> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

bool is_header(const SourceFile& file) { return file.path.ends_with(".h"); }

bool is_cpp(const SourceFile& file) { return is_header(file) || file.path.ends_with(".cc"); }

std::vector<Finding> check_length(const SourceFile& file) {
  const std::size_t lines = split_lines(file.text).size();
  if (lines <= kLinesMax) {
    return {};
  }
  return {{file.path, 0, std::to_string(lines) + " lines, more than " + std::to_string(kLinesMax)}};
}

std::vector<Finding> check_columns(const SourceFile& file) {
  std::vector<Finding> findings;
  int number = 0;
  for (const std::string_view line : split_lines(file.text)) {
    ++number;
    if (columns(line) > kColumnsMax) {
      findings.push_back({file.path, number, std::to_string(columns(line)) + " columns"});
    }
  }
  return findings;
}

std::vector<Finding> check_header(const SourceFile& file) {
  static const std::regex using_namespace(R"(^\s*using\s+namespace\b)");
  const std::string code = blank_prose(file.text);
  std::vector<Finding> findings =
      search_lines(file, code, using_namespace, "using namespace in a header");
  if (code.find("#pragma once") == std::string::npos) {
    findings.push_back({file.path, 0, "no #pragma once"});
  }
  return findings;
}

std::vector<Finding> check_banned_words(const SourceFile& file) {
  static const std::regex declared(R"(operator\s+(new|delete)|=\s*delete\b)");
  const std::string code = std::regex_replace(blank_prose(file.text), declared, "");
  std::vector<Finding> findings;
  for (const BannedWord& word : banned_words()) {
    if (!lives_below(file, word.allowed_below)) {
      append(findings, search_lines(file, code, std::regex(word.pattern), word.reason));
    }
  }
  return findings;
}

std::vector<Finding> check_open_ends(const SourceFile& file) {
  // In two halves, so that this file passes.
  static const std::regex open_end(
      "\\b(TO"
      "DO|FIX"
      "ME)\\b");
  return search_lines(file, file.text, open_end, "an open end belongs into an issue");
}

std::vector<Finding> check_file(const SourceFile& file) {
  std::vector<Finding> findings;
  const bool is_cmake = file.path.ends_with(".cmake") || file.path.ends_with("CMakeLists.txt");
  if (!is_cmake) {
    append(findings, check_length(file));
  }
  append(findings, check_open_ends(file));
  if (is_cpp(file)) {
    append(findings, check_columns(file));
    append(findings, check_banned_words(file));
  }
  if (is_header(file)) {
    append(findings, check_header(file));
  }
  return findings;
}

}  // namespace fusefarm::tidy
