#include "runner/memory.h"

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/posix_error.h"

namespace fusefarm::runner {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2U << 20;
constexpr std::size_t kAlignment = 64;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

Error no_memory(std::size_t bytes) {
  return posix_error("allocate " + std::to_string(bytes) + " bytes", errno)
      .with_context("executor");
}

std::byte* map_private(std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

// Advice only: without huge pages everything still works.
void ask_for_huge_pages(std::byte* at, std::size_t bytes) {
  if (bytes >= kHugePage) {
    ::madvise(at, bytes, MADV_HUGEPAGE);
  }
}

}  // namespace

Mapping::~Mapping() {
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
}

Result<Mapping> Mapping::shared_at(std::uint64_t address, int fd, std::size_t bytes,
                                   bool writable) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return posix_error("inspect a shared region", errno);
  }
  if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) < bytes) {
    return Error{ErrorCode::kInvalidArgument, "a shared region has " +
                                                  std::to_string(info.st_size) + " bytes, not " +
                                                  std::to_string(bytes)};
  }
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* wanted = reinterpret_cast<void*>(address);
  void* at = ::mmap(wanted, bytes, protection, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
  if (at == MAP_FAILED) {
    return posix_error("map a shared region at its address", errno);
  }
  return Mapping(static_cast<std::byte*>(at), bytes);
}

Result<Mapping> Mapping::anonymous(std::size_t bytes) {
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), kPage);
  std::byte* at = map_private(size);
  if (at == nullptr) {
    return no_memory(bytes);
  }
  ask_for_huge_pages(at, size);
  return Mapping(at, size);
}

Result<GuardedBuffer> GuardedBuffer::allocate(std::size_t bytes) {
  const std::size_t inner = round_up(std::max<std::size_t>(bytes, 1), kPage);
  std::byte* at = map_private(inner + (2 * kPage));
  if (at == nullptr) {
    return no_memory(bytes);
  }
  Mapping mapping(at, inner + (2 * kPage));
  ask_for_huge_pages(at + kPage, inner);
  if (::mprotect(at, kPage, PROT_NONE) != 0 ||
      ::mprotect(at + kPage + inner, kPage, PROT_NONE) != 0) {
    return no_memory(bytes);
  }
  std::byte* data = at + kPage + (inner - round_up(bytes, kAlignment));
  return GuardedBuffer(std::move(mapping), data, bytes);
}

}  // namespace fusefarm::runner
