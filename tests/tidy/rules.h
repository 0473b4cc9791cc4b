#pragma once
#include <vector>

#include "tests/tidy/source_text.h"

// The rules that one file can break on its own. Each takes a file and returns what it found.
namespace fusefarm::tidy {

inline constexpr std::size_t kLinesMax = 400;
inline constexpr std::size_t kColumnsMax = 100;

bool is_cpp(const SourceFile& file);
bool is_header(const SourceFile& file);

std::vector<Finding> check_length(const SourceFile& file);
std::vector<Finding> check_columns(const SourceFile& file);
std::vector<Finding> check_header(const SourceFile& file);
std::vector<Finding> check_banned_words(const SourceFile& file);
std::vector<Finding> check_open_ends(const SourceFile& file);

// All of the above that apply to the file.
std::vector<Finding> check_file(const SourceFile& file);

}  // namespace fusefarm::tidy
