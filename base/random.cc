#include "base/random.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace fusefarm {
namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random Random::keyed(std::uint64_t seed, std::string_view decision, std::uint64_t a,
                     std::uint64_t b) {
  std::uint64_t h = mix(seed + 0x9e3779b97f4a7c15ULL);
  for (const char c : decision) {
    h = mix(h ^ static_cast<unsigned char>(c)) + 0x9e3779b97f4a7c15ULL;
  }
  h = mix(h ^ mix(a + 0x632be59bd9b4e019ULL));
  h = mix(h ^ mix(b + 0xd1b54a32d192ed03ULL));
  return Random(h);
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return mix(state_);
}

std::uint64_t Random::below(std::uint64_t bound) {
  FUSEFARM_CHECK(bound > 0, "empty range");
  const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);
  std::uint64_t draw = next();
  while (draw >= limit) {
    draw = next();
  }
  return draw % bound;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::normal() {
  double u = uniform();
  while (u <= 0) {
    u = uniform();
  }
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace fusefarm
