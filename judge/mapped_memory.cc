#include "judge/mapped_memory.h"

#include <cerrno>

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/posix_error.h"

namespace fusefarm::judge {

Result<MappedMemory> MappedMemory::map(int fd, std::int64_t bytes, bool writable) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return posix_error("fstat of shared memory", errno);
  }
  if (bytes < 0 || status.st_size < bytes) {
    return Error{ErrorCode::kInvalidArgument, "shared memory has " +
                                                  std::to_string(status.st_size) + " bytes, " +
                                                  std::to_string(bytes) + " are needed"};
  }
  MappedMemory memory;
  if (bytes == 0) {
    return memory;
  }
  const auto size = static_cast<std::size_t>(bytes);
  void* base =
      ::mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    return posix_error("mmap of shared memory", errno);
  }
  memory.base_ = static_cast<std::byte*>(base);
  memory.bytes_ = size;
  return memory;
}

MappedMemory::~MappedMemory() {
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
}

}  // namespace fusefarm::judge
