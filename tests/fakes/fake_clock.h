// A clock that a test moves.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace fusefarm::fakes {

class FakeClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(nanoseconds_.load())); }

  std::int64_t wall_ms() const override { return 1'700'000'000'000 + nanoseconds_ / 1'000'000; }

  void advance_seconds(double by) { nanoseconds_ += static_cast<std::int64_t>(by * 1e9); }

 private:
  std::atomic<std::int64_t> nanoseconds_ = 0;
};

}  // namespace fusefarm::fakes
