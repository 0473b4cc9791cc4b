// FUSEFARM_CHECK: for bugs of ours, on in every build. Never for input from wire, disk, LLM,
// config or a candidate: that is a Result.
#pragma once

#include <string>

namespace fusefarm::internal {
[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const std::string& detail);
}  // namespace fusefarm::internal

// FUSEFARM_CHECK(x > 0, "region " + id): prints expression, place and detail, then aborts.
#define FUSEFARM_CHECK(condition, detail)                                           \
  do {                                                                              \
    if (!(condition)) [[unlikely]] {                                                \
      ::fusefarm::internal::check_failed(#condition, __FILE__, __LINE__, (detail)); \
    }                                                                               \
  } while (false)
