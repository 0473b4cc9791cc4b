// Eight f32 lanes by the compilers' vector extension: AVX2 where the translation unit is built for
// it, pairs of SSE2 registers elsewhere. The including file names the instruction set in
// FUSEFARM_KERNEL_ISA; everything here and in *_kernels.h lives in a namespace of that name, so
// that two builds of one kernel never merge.
#pragma once

#include <cstdint>
#include <cstring>
#ifdef __FMA__
#include <immintrin.h>
#endif

#ifndef FUSEFARM_KERNEL_ISA
#define FUSEFARM_KERNEL_ISA portable
#endif
#define FUSEFARM_INLINE [[gnu::always_inline]] inline

namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA {

using F8 [[gnu::vector_size(32)]] = float;
using I8 [[gnu::vector_size(32)]] = std::int32_t;
using U8 [[gnu::vector_size(32)]] = std::uint32_t;
using H8 [[gnu::vector_size(16)]] = std::uint16_t;
using Bf16 = std::uint16_t;

constexpr std::int64_t kLanes = 8;

FUSEFARM_INLINE F8 splat(float value) {
  return F8{value, value, value, value, value, value, value, value};
}

FUSEFARM_INLINE F8 load8(const float* data) {
  F8 value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

FUSEFARM_INLINE F8 load8(const Bf16* data) {
  H8 half;
  std::memcpy(&half, data, sizeof half);
#ifdef __AVX2__
  const __m256i wide = _mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(half));
  return reinterpret_cast<F8>(_mm256_slli_epi32(wide, 16));
#else
  return reinterpret_cast<F8>(__builtin_convertvector(half, U8) << 16);
#endif
}

FUSEFARM_INLINE void store8(float* data, F8 value) { std::memcpy(data, &value, sizeof value); }

// Round to nearest even; NaN stays NaN and quiet, as float_to_bf16 has it.
FUSEFARM_INLINE void store8(Bf16* data, F8 value) {
  const U8 bits = reinterpret_cast<U8>(value);
  const U8 rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const U8 nan = (bits >> 16) | 0x40U;
  const U8 is_nan = reinterpret_cast<U8>(value != value);
  const U8 chosen = (rounded & ~is_nan) | (nan & is_nan);
#ifdef __AVX2__
  const __m256i wide = reinterpret_cast<__m256i>(chosen);
  const __m128i half =
      _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  std::memcpy(data, &half, sizeof half);
#else
  const H8 half = __builtin_convertvector(chosen, H8);
  std::memcpy(data, &half, sizeof half);
#endif
}

FUSEFARM_INLINE float load1(const float* data) { return *data; }

FUSEFARM_INLINE float load1(const Bf16* data) {
  const std::uint32_t bits = static_cast<std::uint32_t>(*data) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

FUSEFARM_INLINE void store1(float* data, float value) { *data = value; }

FUSEFARM_INLINE void store1(Bf16* data, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  *data = static_cast<Bf16>((nan ? bits | 0x400000U : rounded) >> 16);
}

FUSEFARM_INLINE F8 fma8(F8 a, F8 b, F8 c) {
#ifdef __FMA__
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

FUSEFARM_INLINE F8 max8(F8 a, F8 b) { return a > b ? a : b; }

FUSEFARM_INLINE float sum8(F8 value) {
  const float* lane = reinterpret_cast<const float*>(&value);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

FUSEFARM_INLINE float max_lane(F8 value) {
  const float* lane = reinterpret_cast<const float*>(&value);
  float best = lane[0];
  for (int i = 1; i < kLanes; ++i) {
    best = lane[i] > best ? lane[i] : best;
  }
  return best;
}

// exp with a relative error below 2^-22: round to a power of two, then a degree-6 polynomial
// (Cephes expf). Overflows to infinity, underflows to zero, NaN stays NaN.
FUSEFARM_INLINE F8 exp8(F8 x) {
  x = x > splat(89.0F) ? splat(89.0F) : x;
  x = x < splat(-104.0F) ? splat(-104.0F) : x;
  const F8 magic = splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  const F8 shifted = fma8(x, splat(1.44269504088896341F), magic);
  const F8 n = shifted - magic;
  F8 r = fma8(n, splat(-0.693359375F), x);
  r = fma8(n, splat(2.12194440e-4F), r);
  F8 p = fma8(splat(1.9875691500e-4F), r, splat(1.3981999507e-3F));
  p = fma8(p, r, splat(8.3334519073e-3F));
  p = fma8(p, r, splat(4.1665795894e-2F));
  p = fma8(p, r, splat(1.6666665459e-1F));
  p = fma8(p, r, splat(5.0000001201e-1F));
  p = fma8(p, r * r, r + splat(1.0F));
  // 2^n in two factors, so that n = 128 and n below -126 work.
  const I8 exponent = reinterpret_cast<I8>(shifted) - reinterpret_cast<I8>(magic);
  const I8 half = exponent >> 1;
  const F8 scale_a = reinterpret_cast<F8>((half + 127) << 23);
  const F8 scale_b = reinterpret_cast<F8>((exponent - half + 127) << 23);
  return p * scale_a * scale_b;
}

FUSEFARM_INLINE F8 silu8(F8 x) { return x / (splat(1.0F) + exp8(-x)); }

}  // namespace fusefarm::codegen::FUSEFARM_KERNEL_ISA
