#include "verify/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "verify/source_lexer.h"

namespace fusefarm::verify {
namespace {

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

// What a brace at file scope opens.
enum class Brace {
  kScope,     // namespace or extern "C": its content is file scope too
  kFunction,  // its end ends the declaration
  kOther,     // type or initialiser: the declaration goes on to ';'
};

Brace brace_at(const Tokens& tokens, std::size_t begin, std::size_t at) {
  const bool linkage =
      at >= begin + 2 && tokens[at - 1].text == "\"C\"" && tokens[at - 2].text == "extern";
  if (linkage || contains(tokens, begin, at, "namespace")) {
    return Brace::kScope;
  }
  const bool initialiser = contains(tokens, begin, at, "=");
  const bool type = contains(tokens, begin, at, "struct") || contains(tokens, begin, at, "union") ||
                    contains(tokens, begin, at, "class") || contains(tokens, begin, at, "enum");
  const bool parameters = at > begin && contains(tokens, begin, at, "(");
  return parameters && !initialiser && !type ? Brace::kFunction : Brace::kOther;
}

// File-scope variables that can be written, as far as the text shows: `type name;`, `type name =`,
// `type name[`, at brace depth 0 or inside a namespace or extern "C" block. What slips through is
// static data of the artifact, which the ELF check refuses.
std::string bad_globals(const Tokens& tokens) {
  constexpr std::array kHarmless{"const", "constexpr", "using", "typedef",       "struct",  "class",
                                 "union", "enum",      "(",     "static_assert", "operator"};
  std::vector<Brace> open;
  std::size_t begin = 0;  // of the current declaration
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    const bool file_scope =
        std::all_of(open.begin(), open.end(), [](Brace brace) { return brace == Brace::kScope; });
    if (text == "{") {
      open.push_back(file_scope ? brace_at(tokens, begin, i) : Brace::kOther);
      if (file_scope && open.back() == Brace::kScope) {
        begin = i + 1;
      }
    } else if (text == "}") {
      const Brace closed = open.empty() ? Brace::kOther : open.back();
      if (!open.empty()) {
        open.pop_back();
      }
      if (closed != Brace::kOther) {
        begin = i + 1;
      }
    } else if (text == ";" && file_scope) {
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
  if (std::string problem = tokenize(source, tokens); !problem.empty()) {
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
