// Part of the static check: C++ text as tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusefarm::verify {

struct Token {
  std::string_view text;
  int line = 1;
};

using Tokens = std::vector<Token>;

bool is_word_char(char c);

// Words, numbers, strings and single punctuation characters into `tokens`; comments and tuning
// pragmas are left out. The reason when the text holds something that is refused at this level
// (preprocessor directives, line continuations, raw strings, other encodings), else "".
std::string tokenize(std::string_view source, Tokens& tokens);

}  // namespace fusefarm::verify
