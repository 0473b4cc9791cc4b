#include "tests/tidy/source_text.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

namespace fusefarm::tidy {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& path) {
  static const std::set<std::string> kinds{".h", ".cc", ".py", ".sh", ".cmake"};
  return kinds.contains(path.extension().string()) || path.filename() == "CMakeLists.txt";
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Walks C++ text once and copies what is code.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), out_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      step();
    }
    return std::move(out_);
  }

 private:
  void step() {
    if (starts("//")) {
      blank_until("\n", 0);
    } else if (starts("/*")) {
      blank_until("*/", 2);
    } else if (starts("R\"") && !inside_word()) {
      raw_string();
    } else if (text_[at_] == '"' || (text_[at_] == '\'' && !inside_word())) {
      quoted(text_[at_]);
    } else {
      ++at_;
    }
  }

  bool starts(std::string_view mark) const { return text_.substr(at_).starts_with(mark); }

  // Whether the character before belongs to a word: 1'000 is a number, and LR" another literal.
  bool inside_word() const { return at_ > 0 && is_word(text_[at_ - 1]); }

  void blank_to(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') {
        out_[at_] = ' ';
      }
    }
  }

  void blank_until(std::string_view mark, std::size_t also) {
    const std::size_t found = text_.find(mark, at_ + also);
    blank_to(found == std::string_view::npos ? text_.size() : found + also);
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      ++at_;
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = text_.find(close, open);
    blank_to(end == std::string_view::npos ? text_.size() : end + close.size());
  }

  // Keeps the quotes, so that #include "x/y.h" is still seen as one.
  void quoted(char quote) {
    ++at_;
    const std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    end = std::min(end, text_.size());
    blank_to(end);
    at_ = std::min(end + 1, text_.size());
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_string(const Finding& finding) {
  return finding.path + ":" + std::to_string(finding.line) + ": " + finding.what;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string blank_prose(std::string_view text) { return Blanker(text).run(); }

std::vector<SourceFile> read_tree(const fs::path& root, const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  const auto add = [&](const fs::path& path) {
    if (fs::is_regular_file(path) && is_source(path)) {
      files.push_back({fs::relative(path, root).generic_string(), read_file(path)});
    }
  };
  for (const std::string& folder : folders) {
    if (folder.empty()) {
      std::ranges::for_each(fs::directory_iterator(root), add);
    } else if (fs::is_directory(root / folder)) {
      std::ranges::for_each(fs::recursive_directory_iterator(root / folder), add);
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace fusefarm::tidy
