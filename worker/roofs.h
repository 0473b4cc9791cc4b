// The measured roofs of a CPU device: what no program on it can exceed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "verify/verdict_rule.h"

namespace fusefarm::worker {

// Best of several passes with one thread on each core, under a second in all: reading from memory
// and copying (the better counts), reading what stays in the caches, f32 multiply-add. The best is
// meant: a roof that a disturbance lowered would condemn honest candidates.
verify::Roofs measure_roofs(const std::vector<int>& cores, std::int64_t cache_bytes,
                            const Clock& clock);

}  // namespace fusefarm::worker
