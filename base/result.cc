#include "base/result.h"

#include "base/check.h"

namespace fusefarm {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kIntegrity:
      return "integrity";
    case ErrorCode::kExhausted:
      return "exhausted";
    case ErrorCode::kEnvironment:
      return "environment";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

namespace internal {
void result_misused(const char* what) { check_failed("result", __FILE__, __LINE__, what); }
}  // namespace internal

}  // namespace fusefarm
