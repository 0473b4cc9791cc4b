// Owned mappings of an executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"

namespace fusefarm::runner {

// A range of address space, unmapped with its owner.
class Mapping {
 public:
  Mapping() = default;

  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // Maps `bytes` of a shared file at exactly `address`. The file must be at least that large.
  static Result<Mapping> shared_at(std::uint64_t address, int fd, std::size_t bytes, bool writable);
  // Private zeroed memory; huge pages are asked for where they fit.
  static Result<Mapping> anonymous(std::size_t bytes);

  std::byte* data() const { return base_; }

  std::size_t bytes() const { return bytes_; }

 private:
  friend class GuardedBuffer;

  Mapping(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {}

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Private memory between two pages that can't be touched. It ends at the upper one (to within the
// alignment of 64), so that running past the end faults at once.
class GuardedBuffer {
 public:
  static Result<GuardedBuffer> allocate(std::size_t bytes);

  std::byte* data() const { return data_; }

  std::size_t bytes() const { return bytes_; }

 private:
  GuardedBuffer(Mapping mapping, std::byte* data, std::size_t bytes)
      : mapping_(std::move(mapping)), data_(data), bytes_(bytes) {}

  Mapping mapping_;
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace fusefarm::runner
