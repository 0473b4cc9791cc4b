#include "base/posix_error.h"

#include <cerrno>
#include <system_error>

namespace fusefarm {
namespace {

ErrorCode code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return ErrorCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
      return ErrorCode::kExhausted;
    case EAGAIN:
    case EBUSY:
    case ETXTBSY:
      return ErrorCode::kUnavailable;
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENOTDIR:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kEnvironment;
  }
}

const char* remedy_of(int errno_value) {
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
      return "; free space on that file system and run the same command again";
    case EACCES:
    case EPERM:
      return "; check its owner and permissions";
    case EROFS:
      return "; that file system is read-only, choose another folder";
    case ENOMEM:
      return "; free memory and run again";
    default:
      return "";
  }
}

}  // namespace

Error posix_error(const std::string& what, int errno_value) {
  return Error{code_of(errno_value),
               what + ": " + std::generic_category().message(errno_value) + remedy_of(errno_value)};
}

}  // namespace fusefarm
