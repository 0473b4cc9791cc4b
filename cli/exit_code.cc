#include "cli/exit_code.h"

#include <iostream>

namespace fusefarm::cli {

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnsupported:
      return kExitUsage;
    case ErrorCode::kUnavailable:
      return kExitUnavailable;
    case ErrorCode::kIntegrity:
      return kExitIntegrity;
    case ErrorCode::kCancelled:
      return kExitInterrupted;
    case ErrorCode::kExhausted:
    case ErrorCode::kEnvironment:
    case ErrorCode::kInternal:
      return kExitInternal;
  }
  return kExitInternal;
}

int report_error(const Error& error) {
  std::cerr << "fusefarm: " << error.message << "\n";
  return exit_code_of(error.code);
}

}  // namespace fusefarm::cli
