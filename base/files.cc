#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/posix_error.h"
#include "base/unique_fd.h"

namespace fusefarm {
namespace {

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return posix_error("write " + path, errno);
    }
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const UniqueFd fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    return posix_error("open folder of " + path, errno);
  }
  if (::fsync(fd.get()) != 0) {
    return posix_error("fsync folder of " + path, errno);
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return posix_error("open " + path, errno);
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) {
    return posix_error("stat " + path, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return posix_error("read " + path, EISDIR);
  }
  std::string content;
  char chunk[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return posix_error("read " + path, errno);
    }
    if (n == 0) {
      return content;
    }
    content.append(chunk, static_cast<std::size_t>(n));
    if (content.size() > bytes_max) {
      return Error{ErrorCode::kInvalidArgument,
                   path + " is larger than " + std::to_string(bytes_max) + " bytes"};
    }
  }
}

Result<void> write_file_atomically(const std::string& path, std::string_view content) {
  const std::string beside = path + ".part." + std::to_string(::getpid());
  UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    return posix_error("create " + beside, errno);
  }
  Result<void> written = write_all(fd.get(), content, beside);
  if (written.ok() && ::fsync(fd.get()) != 0) {
    written = posix_error("fsync " + beside, errno);
  }
  if (written.ok() && ::rename(beside.c_str(), path.c_str()) != 0) {
    written = posix_error("rename to " + path, errno);
  }
  if (!written.ok()) {
    ::unlink(beside.c_str());
    return written;
  }
  return sync_folder(path);
}

Result<void> make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return posix_error("create folder " + path, error.value());
  }
  return {};
}

}  // namespace fusefarm
