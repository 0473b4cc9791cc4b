// Any text: a reason or none; never a crash, and never an accepted directive.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "verify/source_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string problem = fusefarm::verify::forbidden_text(text, {"entry"});
  if (problem.empty() && text.starts_with("#include")) {
    __builtin_trap();
  }
  return 0;
}
