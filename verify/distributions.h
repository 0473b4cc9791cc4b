// Parts of the input generation: one tensor's values.
#pragma once

#include <cstdint>
#include <span>

#include "graph/dtype.h"
#include "verify/inputs.h"

namespace fusefarm::verify {

// Writes `value` as element `index` of a bf16 or f32 tensor.
void store_element(std::span<std::byte> bytes, graph::DType dtype, std::size_t index, double value);
void store_integer(std::span<std::byte> bytes, std::size_t index, std::int32_t value);

// `count` approximate normals, mean + scale * z, as elements [first, first + count): each is the
// sum of four 16-bit lanes of one hashed counter, so it depends on key and index alone.
void fill_normal(std::span<std::byte> bytes, graph::DType dtype, std::size_t first,
                 std::size_t count, std::uint64_t key, double mean, double scale);

// A whole tensor with rows of `width`; `ordinal` tells tensors of one launch apart.
void fill_distribution(std::span<std::byte> bytes, graph::DType dtype, std::size_t count,
                       std::size_t width, Distribution distribution, std::uint64_t seed,
                       std::uint64_t ordinal);

}  // namespace fusefarm::verify
