#include "codegen/source_prelude.h"

namespace fusefarm::codegen {

std::string_view source_prelude() {
  static constexpr std::string_view kText = R"(typedef unsigned short u16;
typedef unsigned int u32;
typedef float v8 __attribute__((vector_size(32)));
typedef unsigned int u8x __attribute__((vector_size(32)));
typedef int i8x __attribute__((vector_size(32)));
typedef u16 h8 __attribute__((vector_size(16)));
struct FfTensor { void* data; long row_stride; };
struct FfArgs { const FfTensor* tensors; const long* dims; };
FF_INLINE v8 ff_splat(float v) { return v8{v, v, v, v, v, v, v, v}; }
FF_INLINE v8 ff_load(const float* p) { v8 v; __builtin_memcpy(&v, p, 32); return v; }
FF_INLINE v8 ff_load(const u16* p) {
  h8 h; __builtin_memcpy(&h, p, 16);
  return (v8)(__builtin_convertvector(h, u8x) << 16);
}
FF_INLINE void ff_store(float* p, v8 v) { __builtin_memcpy(p, &v, 32); }
FF_INLINE void ff_store(u16* p, v8 v) {
  u8x b = (u8x)v;
  b = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
  h8 h = __builtin_convertvector(b, h8);
  __builtin_memcpy(p, &h, 16);
}
FF_INLINE float ff_load1(const float* p) { return *p; }
FF_INLINE float ff_load1(const u16* p) {
  u32 b = (u32)*p << 16; float v; __builtin_memcpy(&v, &b, 4); return v;
}
template <long S> FF_INLINE void ff_scatter(float* p, v8 v) {
  p[0] = v[0]; p[S] = v[1]; p[2 * S] = v[2]; p[3 * S] = v[3];
  p[4 * S] = v[4]; p[5 * S] = v[5]; p[6 * S] = v[6]; p[7 * S] = v[7];
}
FF_INLINE float ff_sum(v8 v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}
)";
  return kText;
}

std::string_view exp_source() {
  static constexpr std::string_view kText = R"(FF_INLINE v8 ff_exp(v8 x) {
  x = x > ff_splat(89.0f) ? ff_splat(89.0f) : x;
  x = x < ff_splat(-104.0f) ? ff_splat(-104.0f) : x;
  v8 s = x * 1.44269504088896341f + 12582912.0f;
  v8 n = s - 12582912.0f;
  v8 r = n * -0.693359375f + x;
  r = n * 2.12194440e-4f + r;
  v8 p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + (r + 1.0f);
  i8x e = (i8x)s - (i8x)ff_splat(12582912.0f);
  i8x h = e >> 1;
  return p * (v8)((h + 127) << 23) * (v8)((e - h + 127) << 23);
}
FF_INLINE v8 ff_silu(v8 x) { return x / (ff_exp(-x) + 1.0f); }
)";
  return kText;
}

std::string_view angle_source() {
  static constexpr std::string_view kText =
      R"(// Quadrants are taken off in double, so that large positions lose nothing.
FF_INLINE void ff_angles(long position, const double* frequency, long half, float* out) {
  for (long i = 0; i < half; ++i) {
    double a = (double)position * frequency[i];
    double n = a * 0.63661977236758134308;
    n = (n + 6755399441055744.0) - 6755399441055744.0;
    double d = a - n * 1.57079632679489655800;
    float r = (float)(d - n * 6.12323399573676603587e-17);
    int q = (int)(long)n & 3;
    float z = r * r;
    float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
    float c = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z +
               4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
    float cosine = q & 1 ? s : c;
    float sine = q & 1 ? c : s;
    out[i] = (q == 1 || q == 2) ? -cosine : cosine;
    out[half + i] = q & 2 ? -sine : sine;
  }
}
)";
  return kText;
}

}  // namespace fusefarm::codegen
