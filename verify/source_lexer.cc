#include "verify/source_lexer.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace fusefarm::verify {
namespace {

// Comments out, strings kept as one token. Returns nothing at an unterminated comment or string.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  // Fills `tokens`; returns a problem or "".
  std::string run(std::vector<Token>& tokens) {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        fresh_line_ = true;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (const std::string problem = token(tokens); !problem.empty()) {
        return fmt::format("line {}: {}", line_, problem);
      }
    }
    return "";
  }

 private:
  std::string token(std::vector<Token>& tokens) {
    const char c = source_[at_];
    if (c == '\0' || static_cast<unsigned char>(c) >= 0x80) {
      return "only ASCII text is allowed";
    }
    if (c == '\\') {
      return "line continuations are not allowed";
    }
    // Alternative spellings of '#' and '\' would hide directives.
    if (starts("%:") || starts("?\?=") || starts("?\?/")) {
      return "digraphs and trigraphs are not allowed";
    }
    if (starts("//")) {
      while (at_ < source_.size() && source_[at_] != '\n') {
        if (source_[at_] == '\\') {
          return "a backslash in a comment is not allowed";
        }
        ++at_;
      }
      return "";
    }
    if (starts("/*")) {
      return block_comment();
    }
    if (c == '#') {
      return directive();
    }
    fresh_line_ = false;
    if (is_word_char(c)) {
      const std::size_t begin = at_;
      while (at_ < source_.size() && (is_word_char(source_[at_]) || source_[at_] == '\'')) {
        ++at_;
      }
      const std::string_view word = source_.substr(begin, at_ - begin);
      tokens.push_back({word, line_});
      if (at_ < source_.size() && source_[at_] == '"' && word.back() == 'R') {
        return "raw strings are not allowed";
      }
      return "";
    }
    if (c == '"' || c == '\'') {
      return quoted(tokens, c);
    }
    tokens.push_back({source_.substr(at_, 1), line_});
    ++at_;
    return "";
  }

  // Only #pragma GCC unroll and ivdep, which tune a loop.
  std::string directive() {
    if (!fresh_line_) {
      return "'#' inside a line is not allowed";
    }
    std::size_t end = source_.find('\n', at_);
    if (end == std::string_view::npos) {
      end = source_.size();
    }
    std::string line(source_.substr(at_, end - at_));
    line.erase(
        std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
        line.end());
    const bool tuning = line.starts_with("#pragma GCC unroll ") || line == "#pragma GCC ivdep";
    const std::string_view rest = std::string_view(line).substr(1);
    if (!tuning || rest.find('#') != std::string_view::npos ||
        rest.find('\\') != std::string_view::npos || rest.find('/') != std::string_view::npos) {
      return "preprocessor directive '" + line.substr(0, 60) + "' is not allowed";
    }
    at_ = end;
    return "";
  }

  std::string block_comment() {
    const std::size_t end = source_.find("*/", at_ + 2);
    if (end == std::string_view::npos) {
      return "a comment does not end";
    }
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end + 2;
    return "";
  }

  std::string quoted(std::vector<Token>& tokens, char quote) {
    const std::size_t begin = at_++;
    while (at_ < source_.size() && source_[at_] != quote) {
      if (source_[at_] == '\n') {
        return "a string or character does not end";
      }
      if (source_[at_] == '\\') {
        ++at_;
      }
      ++at_;
    }
    if (at_ >= source_.size()) {
      return "a string or character does not end";
    }
    ++at_;
    tokens.push_back({source_.substr(begin, at_ - begin), line_});
    return "";
  }

  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
};

}  // namespace

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string tokenize(std::string_view source, Tokens& tokens) { return Lexer(source).run(tokens); }

}  // namespace fusefarm::verify
