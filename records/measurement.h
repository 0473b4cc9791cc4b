// Raw samples of a paired comparison. Everything a verdict is computed from is here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fusefarm {

enum class Arm : std::uint8_t { kIncumbent = 0, kCandidate = 1 };

// One slot: `launches` launches of one arm, each with its own values, bracketed by the worker's
// clock.
struct Slot {
  Arm arm = Arm::kIncumbent;
  std::int64_t nanoseconds = 0;
  std::int32_t launches = 1;
};

// Four slots, ABBA or BAAB by a fair coin.
struct Quad {
  Slot slots[4];
  bool discarded = false;  // by telemetry only, never by time
  std::string discard_reason;
};

// Quads between one start and stop of a pair of fresh executors.
struct Block {
  bool incumbent_loaded_first = true;  // random per block
  std::vector<Quad> quads;
};

struct PairedMeasurement {
  std::string stage;  // screen | confirm | integration | end_to_end
  std::vector<Block> blocks;
};

// Log speed-up (log incumbent time - log candidate time): estimate and interval.
struct Interval {
  double estimate = 0, lo = 0, hi = 0;
};

}  // namespace fusefarm
