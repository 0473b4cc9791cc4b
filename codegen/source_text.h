// Text of generated sources: indented lines with $0, $1, ... replaced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fusefarm::codegen {

// What a line may be filled with: text or an integer.
struct Fill {
  Fill(std::string value) : text(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  Fill(const char* value) : text(value) {}  // NOLINT(google-explicit-constructor)

  template <class T>
    requires std::is_integral_v<T>
  Fill(T value) : text(std::to_string(value)) {}  // NOLINT(google-explicit-constructor)

  std::string text;
};

// "x[$0] + $1" with {3, "y"} is "x[3] + y". At most ten values.
std::string filled(std::string_view pattern, const std::vector<Fill>& values);

class SourceText {
 public:
  // A line that ends in '{' indents what follows; one that starts with '}' ends that.
  void line(std::string_view pattern, const std::vector<Fill>& values = {});

  void blank() { text_ += '\n'; }

  void raw(std::string_view text) { text_ += text; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace fusefarm::codegen
