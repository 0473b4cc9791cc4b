#include "verify/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace fusefarm::verify {
namespace {

struct Token {
  std::string_view text;
  int line = 1;
};

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

constexpr std::array kForbiddenWords{"asm",
                                     "__asm",
                                     "__asm__",
                                     "syscall",
                                     "thread_local",
                                     "__thread",
                                     "__rdtsc",
                                     "__rdtscp",
                                     "__builtin_ia32_rdtsc",
                                     "__builtin_ia32_rdtscp",
                                     "__builtin_return_address",
                                     "__builtin_frame_address",
                                     "__builtin_extract_return_addr",
                                     "__builtin_setjmp",
                                     "__builtin_longjmp",
                                     "_Pragma",
                                     "__TIME__",
                                     "__DATE__",
                                     "__TIMESTAMP__",
                                     "__FILE__",
                                     "__has_include",
                                     "import",
                                     "new",
                                     "delete",
                                     "throw",
                                     "try"};

// What an attribute may say: tuning and data layout, nothing about linkage or start-up.
constexpr std::array kAllowedAttributes{
    "gnu",         "always_inline",  "noinline",  "hot",       "cold",    "flatten",
    "vector_size", "aligned",        "packed",    "may_alias", "unused",  "maybe_unused",
    "likely",      "unlikely",       "const",     "pure",      "target",  "visibility",
    "nonnull",     "assume_aligned", "nodiscard", "nothrow",   "optimize"};

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

using Tokens = std::vector<Token>;

bool contains(const Tokens& tokens, std::size_t from, std::size_t to, std::string_view text) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                     tokens.begin() + static_cast<std::ptrdiff_t>(to),
                     [&](const Token& token) { return token.text == text; });
}

std::string bad_words(const Tokens& tokens) {
  for (const Token& token : tokens) {
    for (const char* word : kForbiddenWords) {
      if (token.text == word) {
        return fmt::format("line {}: '{}' is not allowed", token.line, word);
      }
    }
  }
  return "";
}

// The words of attribute lists at their own depth: __attribute__((word(...), word)), [[word]].
std::string bad_attributes(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool gnu = tokens[i].text == "__attribute__" || tokens[i].text == "__attribute";
    const bool standard =
        tokens[i].text == "[" && i + 1 < tokens.size() && tokens[i + 1].text == "[";
    if (!gnu && !standard) {
      continue;
    }
    int depth = 0;
    for (std::size_t j = gnu ? i + 1 : i; j < tokens.size(); ++j) {
      const std::string_view text = tokens[j].text;
      depth += text == "(" || text == "[";
      depth -= text == ")" || text == "]";
      if (depth <= 0) {
        break;
      }
      if (depth != 2 || !is_word_char(text[0])) {
        continue;
      }
      std::string_view bare = text;
      if (bare.size() > 4 && bare.starts_with("__") && bare.ends_with("__")) {
        bare = bare.substr(2, bare.size() - 4);
      }
      const bool number = std::isdigit(static_cast<unsigned char>(text[0])) != 0;
      if (!number && std::find(kAllowedAttributes.begin(), kAllowedAttributes.end(), bare) ==
                         kAllowedAttributes.end()) {
        return fmt::format("line {}: attribute '{}' is not allowed", tokens[j].line, text);
      }
    }
  }
  return "";
}

std::string bad_static(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "static") {
      continue;
    }
    // The declaration up to its end or its body: const data and functions may be static.
    std::size_t end = i;
    bool function = false;
    while (end < tokens.size() && tokens[end].text != ";" && tokens[end].text != "{" &&
           tokens[end].text != "=") {
      function |= tokens[end].text == "(";
      ++end;
    }
    const bool constant =
        contains(tokens, i, end, "constexpr") || contains(tokens, i, end, "const");
    if (!constant && !function) {
      return fmt::format("line {}: static data must be constexpr or const", tokens[i].line);
    }
  }
  return "";
}

// extern only as extern "C" before a block or the definition or declaration of a known name.
std::string bad_extern(const Tokens& tokens, const std::vector<std::string>& linked) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "extern") {
      continue;
    }
    const bool linkage = i + 2 < tokens.size() && tokens[i + 1].text == "\"C\"";
    if (!linkage) {
      return fmt::format("line {}: extern is only allowed as extern \"C\"", tokens[i].line);
    }
    std::size_t end = i + 2;
    if (tokens[end].text == "{") {
      continue;
    }
    while (end < tokens.size() && tokens[end].text != "(" && tokens[end].text != ";") {
      ++end;
    }
    const bool known = std::any_of(linked.begin(), linked.end(), [&](const std::string& name) {
      return contains(tokens, i, std::min(end, tokens.size()), name);
    });
    if (!known) {
      return fmt::format(
          "line {}: extern \"C\" is only for the plan's entries and known leaf functions",
          tokens[i].line);
    }
  }
  return "";
}

// File-scope variables that can be written, as far as the text shows: `type name;`, `type name = `,
// `type name[`, at brace depth 0 or inside a namespace or extern "C" block.
std::string bad_globals(const Tokens& tokens) {
  std::vector<bool> transparent;  // by open brace: its content is still file scope
  std::size_t begin = 0;          // of the current declaration
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    const bool file_scope =
        std::all_of(transparent.begin(), transparent.end(), [](bool t) { return t; });
    if (text == "{") {
      const bool opens_scope =
          contains(tokens, begin, i, "namespace") ||
          (i >= 2 && tokens[i - 1].text == "\"C\"" && tokens[i - 2].text == "extern");
      transparent.push_back(file_scope && opens_scope);
      if (transparent.back()) {
        begin = i + 1;
      }
    } else if (text == "}") {
      if (!transparent.empty()) {
        transparent.pop_back();
      }
      const bool outer =
          std::all_of(transparent.begin(), transparent.end(), [](bool t) { return t; });
      // A function body or a scope ends its declaration; a type or initialiser goes on to ';'.
      if (outer && (i + 1 >= tokens.size() || tokens[i + 1].text != ";")) {
        begin = i + 1;
      }
    } else if (text == ";" && file_scope) {
      constexpr std::array kHarmless{"const",  "constexpr",     "using",   "typedef",
                                     "struct", "class",         "union",   "enum",
                                     "(",      "static_assert", "operator"};
      const bool harmless = std::any_of(kHarmless.begin(), kHarmless.end(), [&](const char* word) {
        return contains(tokens, begin, i, word);
      });
      if (i > begin && !harmless) {
        return fmt::format("line {}: variables at file scope must be const", tokens[i].line);
      }
      begin = i + 1;
    }
  }
  return "";
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), is_word_char);
}

std::string forbidden_text(std::string_view source, const std::vector<std::string>& linked) {
  Tokens tokens;
  if (std::string problem = Lexer(source).run(tokens); !problem.empty()) {
    return problem;
  }
  for (const std::string& problem : {bad_words(tokens), bad_attributes(tokens), bad_static(tokens),
                                     bad_extern(tokens, linked), bad_globals(tokens)}) {
    if (!problem.empty()) {
      return problem;
    }
  }
  return "";
}

}  // namespace fusefarm::verify
