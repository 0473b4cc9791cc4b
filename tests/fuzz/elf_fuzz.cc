// Any bytes: a summary, or an error; never a read outside of them.
#include <cstddef>
#include <cstdint>
#include <span>

#include "verify/elf_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto elf = fusefarm::verify::read_elf(bytes);
  const auto verdict = fusefarm::verify::elf_check(bytes, {"entry"});
  // What cannot be read cannot be accepted.
  if (!elf.ok() && !verdict.has_value()) {
    __builtin_trap();
  }
  return 0;
}
