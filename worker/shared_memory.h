// A memfd that the worker made, mapped here for its whole life.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace fusefarm::worker {

class SharedMemory {
 public:
  SharedMemory() = default;
  // Zeroed; can neither grow nor shrink. kExhausted when there is no memory for it.
  static Result<SharedMemory> create(const std::string& name, std::int64_t bytes);

  SharedMemory(SharedMemory&& other) noexcept
      : fd_(std::move(other.fd_)),
        base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}

  SharedMemory& operator=(SharedMemory&& other) noexcept {
    fd_ = std::move(other.fd_);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  int fd() const { return fd_.get(); }

  // A second descriptor of the same memory that can't be mapped writable.
  Result<UniqueFd> read_only() const;

  std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  UniqueFd fd_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fusefarm::worker
