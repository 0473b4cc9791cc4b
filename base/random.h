// Random numbers that can be replayed. Each decision has its own key: hash(seed, decision id);
// there is no shared stream, so an added draw in one place changes nothing elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace fusefarm {

// SplitMix64 over a keyed start. Not cryptographic: never for secrets. Copyable value; one thread.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // The stream of one decision, e.g. Random::keyed(seed, "quad-order", experiment, block).
  static Random keyed(std::uint64_t seed, std::string_view decision, std::uint64_t a = 0,
                      std::uint64_t b = 0);

  std::uint64_t next();
  // Uniform in [0, bound), bound > 0, without modulo bias.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double uniform();
  // Standard normal (Box-Muller, no cached second value, so that copies stay equal).
  double normal();

  bool coin() { return (next() >> 63) != 0; }

 private:
  std::uint64_t state_;
};

}  // namespace fusefarm
