#include "verify/elf_check.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace fusefarm::verify {
namespace {

constexpr std::array kAllowedNeeded{"libc.so.6", "libm.so.6"};

std::string problem_of(const ElfSummary& elf, const std::vector<std::string>& required,
                       const ElfPolicy& policy) {
  const auto has = [](const auto& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const std::string& name : elf.undefined) {
    if (!has(allowed_imports(), name)) {
      return "imports " + name.substr(0, 120);
    }
  }
  for (const std::string& name : elf.needed) {
    if (!has(kAllowedNeeded, name)) {
      return "needs the library " + name.substr(0, 120);
    }
  }
  for (const std::string& name : required) {
    if (!has(elf.exported, name)) {
      return "does not export " + name;
    }
  }
  // Another exported symbol could stand before one of the process's own.
  for (const std::string& name : elf.exported) {
    if (!has(required, name)) {
      return "exports " + name.substr(0, 120) + ", which is no entry";
    }
  }
  if (elf.constructors > 0) {
    return fmt::format("has {} constructors or destructors", elf.constructors);
  }
  if (elf.writable_bytes > policy.writable_bytes_max) {
    return fmt::format("has {} bytes of writable static data", elf.writable_bytes);
  }
  if (elf.executable_writable > 0) {
    return "has memory that is both writable and executable";
  }
  if (elf.executable_stack) {
    return "asks for an executable stack";
  }
  if (elf.indirect_functions) {
    return "has functions that are resolved by its own code at load";
  }
  return "";
}

}  // namespace

const std::vector<std::string>& allowed_imports() {
  static const std::vector<std::string> kImports{
      "memcpy", "memset",     "memmove", "memcmp", "expf",  "exp",     "exp2f", "exp2",
      "expm1f", "logf",       "log",     "log2f",  "sqrtf", "sqrt",    "rsqrt", "tanhf",
      "tanh",   "sinf",       "cosf",    "sin",    "cos",   "sincosf", "powf",  "pow",
      "erff",   "fmaf",       "fma",     "fmaxf",  "fminf", "floorf",  "ceilf", "roundf",
      "rintf",  "nearbyintf", "ldexpf",  "frexpf"};
  return kImports;
}

std::optional<Verdict> elf_check(std::span<const std::byte> file,
                                 const std::vector<std::string>& required_entries,
                                 const ElfPolicy& policy) {
  const auto refuse = [](const std::string& detail) {
    return Verdict{VerdictClass::kRejectBuild, "policy", "the artifact " + detail, 1};
  };
  if (file.size() > policy.file_bytes_max) {
    return refuse(
        fmt::format("has {} bytes, at most {} are allowed", file.size(), policy.file_bytes_max));
  }
  const Result<ElfSummary> elf = read_elf(file);
  if (!elf) {
    return refuse("is refused: " + elf.error().message);
  }
  const std::string problem = problem_of(*elf, required_entries, policy);
  if (!problem.empty()) {
    return refuse(problem);
  }
  return std::nullopt;
}

}  // namespace fusefarm::verify
