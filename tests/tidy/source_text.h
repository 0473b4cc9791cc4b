#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fusefarm::tidy {

// A file of the tree: its path relative to the root, with '/', and its text.
struct SourceFile {
  std::string path;
  std::string text;
};

// Where a rule is broken. `line` counts from 1; 0 is the whole file.
struct Finding {
  std::string path;
  int line = 0;
  std::string what;
};

std::string to_string(const Finding& finding);

std::vector<std::string_view> split_lines(std::string_view text);

// The C++ text with comments and the insides of string and character literals as blanks. Lines keep
// their numbers, so a rule that looks for code never finds prose.
std::string blank_prose(std::string_view text);

// Every file below `root` in the folders named, or at the top itself when `folders` has "".
std::vector<SourceFile> read_tree(const std::filesystem::path& root,
                                  const std::vector<std::string>& folders);

}  // namespace fusefarm::tidy
