#include "codegen/source_text.h"

#include "base/check.h"

namespace fusefarm::codegen {

std::string filled(std::string_view pattern, const std::vector<Fill>& values) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      out += pattern[i];
      continue;
    }
    FUSEFARM_CHECK(i + 1 < pattern.size(), "pattern ends in $: " + std::string(pattern));
    const auto index = static_cast<std::size_t>(pattern[++i] - '0');
    FUSEFARM_CHECK(index < values.size(), "pattern without a value: " + std::string(pattern));
    out += values[index].text;
  }
  return out;
}

void SourceText::line(std::string_view pattern, const std::vector<Fill>& values) {
  const std::string text = filled(pattern, values);
  if (text.starts_with('}')) {
    --depth_;
  }
  if (!text.starts_with('#')) {
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  }
  text_ += text;
  text_ += '\n';
  if (text.ends_with('{')) {
    ++depth_;
  }
}

}  // namespace fusefarm::codegen
