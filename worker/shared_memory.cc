#include "worker/shared_memory.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/posix_error.h"

namespace fusefarm::worker {

Result<SharedMemory> SharedMemory::create(const std::string& name, std::int64_t bytes) {
  SharedMemory memory;
  memory.fd_ = UniqueFd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.fd_.valid()) {
    return posix_error("create shared memory '" + name + "'", errno);
  }
  if (bytes < 0 || ::ftruncate(memory.fd_.get(), bytes) != 0 ||
      ::fcntl(memory.fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return posix_error("size shared memory '" + name + "' to " + std::to_string(bytes) + " bytes",
                       errno);
  }
  if (bytes > 0) {
    memory.bytes_ = static_cast<std::size_t>(bytes);
    void* at =
        ::mmap(nullptr, memory.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd_.get(), 0);
    if (at == MAP_FAILED) {
      memory.bytes_ = 0;
      return posix_error("map shared memory '" + name + "'", errno);
    }
    memory.base_ = static_cast<std::byte*>(at);
  }
  return memory;
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
}

Result<UniqueFd> SharedMemory::read_only() const {
  const std::string path = "/proc/self/fd/" + std::to_string(fd_.get());
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return posix_error("open shared memory read-only", errno);
  }
  return fd;
}

}  // namespace fusefarm::worker
