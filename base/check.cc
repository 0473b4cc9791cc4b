#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace fusefarm::internal {

void check_failed(const char* expression, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "fusefarm: CHECK failed at %s:%d: %s (%s)\n", file, line, expression,
               detail.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace fusefarm::internal
