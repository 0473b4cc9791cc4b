#include "runner/program_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/bf16.h"
#include "base/random.h"
#include "childlink/runner_messages.h"
#include "codegen/kernels/pack.h"

namespace fusefarm::runner {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t byte_count(const ProgramBuffer& buffer) {
  return static_cast<std::size_t>(buffer.rows * buffer.columns * graph::bytes_of(buffer.dtype));
}

std::size_t round_up_page(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Each thread copies its share.
void copy_by_team(Team& team, std::byte* to, const std::byte* from, std::size_t bytes) {
  team.run([&](int thread) {
    const auto threads = static_cast<std::size_t>(team.threads());
    const auto t = static_cast<std::size_t>(thread);
    const std::size_t begin = bytes * t / threads;
    std::memcpy(to + begin, from + begin, (bytes * (t + 1) / threads) - begin);
  });
}

// Values that a kernel of this dtype might well have written.
template <class T>
void fill_with(std::byte* data, std::size_t bytes, const std::array<T, 64>& values) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(values)) {
    std::memcpy(data + i, values.data(), std::min(sizeof(values), bytes - i));
  }
}

void poison_buffer(std::byte* data, std::size_t bytes, graph::DType dtype, Random random) {
  std::array<float, 64> floats{};
  std::array<std::uint16_t, 64> halves{};
  std::array<std::int32_t, 64> integers{};
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(random.normal());
    halves[i] = float_to_bf16(floats[i]);
    integers[i] = static_cast<std::int32_t>(random.below(8));
  }
  switch (dtype) {
    case graph::DType::kF32:
      return fill_with(data, bytes, floats);
    case graph::DType::kBF16:
      return fill_with(data, bytes, halves);
    case graph::DType::kI32:
      return fill_with(data, bytes, integers);
  }
}

}  // namespace

Result<ProgramMemory> ProgramMemory::create(const Program& program, const SharedRegions& shared,
                                            Team& team) {
  ProgramMemory memory(program);
  memory.locations_.resize(program.buffers.size());
  TRY(memory.map_shared(shared));
  TRY(memory.allocate_private());
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (buffer.placement == Placement::kPrepared) {
      TRY(memory.prepare_weight(i, team));
    } else if (buffer.placement == Placement::kWeights && buffer.copies > 1) {
      TRY(memory.rotate_weight(i, team));
    }
  }
  return memory;
}

Result<void> ProgramMemory::map_shared(const SharedRegions& shared) {
  const auto set_bytes = static_cast<std::size_t>(program_->set_bytes);
  const std::size_t boundary_bytes = set_bytes * static_cast<std::size_t>(program_->sets);
  if (boundary_bytes > 0) {
    boundary_ = TRY(Mapping::shared_at(childlink::kBoundaryAddress, shared.boundary_fd,
                                       boundary_bytes, /*writable=*/true));
  }
  if (program_->weight_bytes > 0) {
    weights_ = TRY(Mapping::shared_at(childlink::kWeightsAddress, shared.weights_fd,
                                      static_cast<std::size_t>(program_->weight_bytes),
                                      /*writable=*/false));
  }
  for (std::size_t i = 0; i < program_->buffers.size(); ++i) {
    const ProgramBuffer& buffer = program_->buffers[i];
    if (buffer.placement == Placement::kBoundary) {
      locations_[i].base = boundary_.data() + buffer.offset;
      locations_[i].set_stride = set_bytes;
    } else if (buffer.placement == Placement::kWeights) {
      locations_[i].base = weights_.data() + buffer.offset;
    }
  }
  return {};
}

Result<void> ProgramMemory::allocate_private() {
  for (std::size_t i = 0; i < program_->buffers.size(); ++i) {
    const ProgramBuffer& buffer = program_->buffers[i];
    if (buffer.placement != Placement::kPrivate) {
      continue;
    }
    scratch_.push_back(TRY(GuardedBuffer::allocate(byte_count(buffer))));
    scratch_dtypes_.push_back(buffer.dtype);
    locations_[i].base = scratch_.back().data();
    private_bytes_ += static_cast<std::int64_t>(byte_count(buffer));
  }
  return {};
}

// All copies are the executor's own: equal pages, whichever copy a launch uses.
Result<void> ProgramMemory::rotate_weight(std::size_t index, Team& team) {
  const ProgramBuffer& buffer = program_->buffers[index];
  const std::size_t bytes = byte_count(buffer);
  const std::size_t stride = round_up_page(bytes);
  const auto copies = static_cast<std::uint32_t>(buffer.copies);
  Mapping own = TRY(Mapping::anonymous(stride * copies));
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    copy_by_team(team, own.data() + (copy * stride), locations_[index].base, bytes);
  }
  locations_[index] = {own.data(), 0, copies, stride};
  prepared_bytes_ += static_cast<std::int64_t>(bytes * copies);
  prepared_.push_back(std::move(own));
  return {};
}

Result<void> ProgramMemory::prepare_weight(std::size_t index, Team& team) {
  const ProgramBuffer& buffer = program_->buffers[index];
  const ProgramBuffer& source = program_->buffers[static_cast<std::size_t>(buffer.source)];
  const std::size_t bytes = byte_count(buffer);
  const std::int64_t needed = codegen::prepared_bytes(buffer.layout, source.rows, source.columns);
  if (needed < 0 || static_cast<std::size_t>(needed) != bytes) {
    return Error{ErrorCode::kInvalidArgument,
                 "prepared buffer '" + buffer.name + "' has " + std::to_string(bytes) +
                     " bytes, its layout needs " + std::to_string(needed)};
  }
  const std::size_t stride = round_up_page(bytes);
  const auto copies = static_cast<std::uint32_t>(buffer.copies);
  Mapping own = TRY(Mapping::anonymous(stride * copies));
  const std::byte* weight = weights_.data() + source.offset;
  team.run([&](int thread) {
    codegen::pack_weight(buffer.layout, weight, source.dtype, source.rows, source.columns,
                         own.data(), thread, team.threads());
  });
  for (std::uint32_t copy = 1; copy < copies; ++copy) {
    copy_by_team(team, own.data() + (copy * stride), own.data(), bytes);
  }
  locations_[index] = {own.data(), 0, copies, stride};
  prepared_bytes_ += static_cast<std::int64_t>(bytes * copies);
  prepared_.push_back(std::move(own));
  return {};
}

void ProgramMemory::poison(std::uint32_t pattern) {
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    poison_buffer(scratch_[i].data(), scratch_[i].bytes(), scratch_dtypes_[i],
                  Random::keyed(pattern, "scratch-poison", i));
  }
}

}  // namespace fusefarm::runner
