#include "store/owner_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/posix_error.h"
#include "base/text.h"

namespace fusefarm::store {
namespace {

std::string owner_of(int fd) {
  char text[32] = {};
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  const std::string pid = n > 0 ? split({text, static_cast<std::size_t>(n)}, '\n').front() : "";
  return parse_int(pid).ok() ? "process " + pid : "another process";
}

}  // namespace

Result<OwnerLock> OwnerLock::take(const std::string& database_path) {
  const std::string path = database_path + ".lock";
  // Close-on-exec: a child that outlives us must not keep the store.
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    const Error error = posix_error("history database: create " + path, errno);
    return Error{error.code, error.message + " (store.path chooses where)"};
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return posix_error("lock " + path, errno);
    }
    return Error{ErrorCode::kUnavailable,
                 "history database " + database_path + " is in use by " + owner_of(fd.get()) +
                     "; wait until it has ended, or choose another store.path"};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return posix_error("write " + path, errno);
  }
  return OwnerLock(std::move(fd));
}

}  // namespace fusefarm::store
