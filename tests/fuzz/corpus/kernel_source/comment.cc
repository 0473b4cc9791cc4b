typedef float v8 __attribute__((vector_size(32)));

namespace {
constexpr int n = 3;

template <int N>
int f() {
  return N;
}
}  // namespace

/* unterminated