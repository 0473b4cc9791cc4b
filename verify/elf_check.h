// Inspection of a built shared object before anything loads it. The bytes are distrusted: every
// offset is checked against the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/verdict.h"

namespace fusefarm::verify {

// What is of interest in an x86-64 ELF shared object.
struct ElfSummary {
  std::vector<std::string> undefined;  // imported symbols
  std::vector<std::string> exported;   // defined, global, default visibility functions
  std::vector<std::string> needed;     // DT_NEEDED
  std::uint64_t constructors = 0;      // entries of init, init_array, preinit_array, fini(_array)
  std::uint64_t writable_bytes = 0;    // memory of writable load segments outside relro
  std::uint64_t executable_writable = 0;  // bytes both writable and executable
  bool executable_stack = false;
  bool indirect_functions = false;  // IFUNC symbols run code at load
};

// kInvalidArgument when the bytes are no such object or contradict themselves.
Result<ElfSummary> read_elf(std::span<const std::byte> file);

// Leaf functions of libc and libm that a compiler or a kernel may call; nothing that reads a clock,
// allocates, or talks to the system.
const std::vector<std::string>& allowed_imports();

struct ElfPolicy {
  std::size_t file_bytes_max = 8U << 20;
  std::uint64_t writable_bytes_max = 0;
};

// kRejectBuild{policy} naming what is refused, or nothing.
std::optional<Verdict> elf_check(std::span<const std::byte> file,
                                 const std::vector<std::string>& required_entries,
                                 const ElfPolicy& policy = {});

}  // namespace fusefarm::verify
