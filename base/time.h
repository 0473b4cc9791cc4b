// Time as values. Nothing here reads a clock: pure modules take time as an argument, adapters take
// a Clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace fusefarm {

using Duration = std::chrono::nanoseconds;
// Monotonic, comparable within one host only; never sent over a wire.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  // Milliseconds since 1970, for display and records only.
  virtual std::int64_t wall_ms() const = 0;
};

// The process's real clock. The only code that reads one is base/clock.cc.
const Clock& system_clock();

}  // namespace fusefarm
