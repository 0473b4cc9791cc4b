// The memory of one loaded program: shared regions mapped at their fixed addresses, private scratch
// between guard pages, weights in the layouts that the steps want.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "records/program.h"
#include "runner/memory.h"
#include "runner/team.h"

namespace fusefarm::runner {

struct SharedRegions {
  int boundary_fd = -1;  // program.sets * program.set_bytes
  int weights_fd = -1;   // program.weight_bytes
};

// Which instance of boundary memory and of rotated weights one launch uses.
struct LaunchPlace {
  std::uint32_t set = 0, copy = 0;
};

class ProgramMemory {
 public:
  // Maps, allocates and prepares everything. The program is checked (childlink::check_program) and
  // borrowed for the life of the result. Errors: kExhausted (memory), kInvalidArgument.
  static Result<ProgramMemory> create(const Program& program, const SharedRegions& shared,
                                      Team& team);

  // First byte of a buffer in one launch. Pure arithmetic: called inside timed slots.
  std::byte* at(std::int32_t buffer, LaunchPlace place) const {
    const Location& location = locations_[static_cast<std::size_t>(buffer)];
    std::byte* const base = location.base + (place.set * location.set_stride);
    return location.copies == 1 ? base : base + (place.copy % location.copies) * location.stride;
  }

  // Overwrites private scratch by plausible values, so that what a launch did not write is wrong.
  void poison(std::uint32_t pattern);

  std::int64_t prepared_bytes() const { return prepared_bytes_; }

  std::int64_t private_bytes() const { return private_bytes_; }

 private:
  struct Location {
    std::byte* base = nullptr;
    std::size_t set_stride = 0;  // boundary only
    std::uint32_t copies = 1;
    std::size_t stride = 0;  // between copies
  };

  explicit ProgramMemory(const Program& program) : program_(&program) {}

  Result<void> map_shared(const SharedRegions& shared);
  Result<void> allocate_private();
  Result<void> rotate_weight(std::size_t index, Team& team);
  Result<void> prepare_weight(std::size_t index, Team& team);

  const Program* program_;
  Mapping boundary_, weights_;
  std::vector<GuardedBuffer> scratch_;
  std::vector<graph::DType> scratch_dtypes_;
  std::vector<Mapping> prepared_;
  std::vector<Location> locations_;
  std::int64_t prepared_bytes_ = 0, private_bytes_ = 0;
};

}  // namespace fusefarm::runner
