// Element types of model tensors. A tensor's dtype is also its declared rounding point: a value
// stored as bf16 is rounded to nearest even once, wherever the unfused graph materialises it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fusefarm::graph {

enum class DType : std::uint8_t { kF32, kBF16, kI32 };

constexpr std::int64_t bytes_of(DType dtype) { return dtype == DType::kBF16 ? 2 : 4; }

// Unit roundoff of one rounding to nearest: 2^-24 for f32, 2^-8 for bf16 (Higham 2002, 2.1), 0 for
// integers.
constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0x1.0p-24;
    case DType::kBF16:
      return 0x1.0p-8;
    case DType::kI32:
      return 0.0;
  }
  return 0.0;
}

const char* to_string(DType dtype);
std::optional<DType> dtype_from(std::string_view name);

}  // namespace fusefarm::graph
