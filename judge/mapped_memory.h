// Memory that a worker passed as a descriptor, mapped for its owner's life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"

namespace fusefarm::judge {

class MappedMemory {
 public:
  MappedMemory() = default;
  // kInvalidArgument when the file is smaller than `bytes`: a later access would fault.
  static Result<MappedMemory> map(int fd, std::int64_t bytes, bool writable);

  MappedMemory(MappedMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

  std::span<const std::byte> bytes() const { return {base_, bytes_}; }

  // Only of a writable mapping.
  std::span<std::byte> writable() { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fusefarm::judge
