// A schedule as plain numbers: validity and prediction are asked for hundreds of thousands of
// points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/schedule.h"

namespace fusefarm::codegen {

struct SchedulePoint {
  std::int64_t row_block = 1, row_unroll = 2, row_sums = 1, row_fuse = 0, row_prefetch = 0,
               row_parts = 1;
  std::int64_t tile_rows = 4, tile_vectors = 2, panel = 16, pair = 0, k_unroll = 1, prefetch = 0,
               k_block = 0, widen = 0, blocks_per_thread = 1, unit_panels = 1, x_layout = 0,
               prologue = 0;

  // The field of a parameter. Unknown names abort: they are ours.
  std::int64_t& field(std::string_view name);
};

SchedulePoint point_of(const Schedule& schedule);
// Only what depends on pair, widen and the tile: false rules out every point with these values.
bool valid_tile(const RegionFacts& facts, const SchedulePoint& point);
bool valid_point(const RegionFacts& facts, const SchedulePoint& point, int threads);
Prediction predict_point(const RegionFacts& facts, const SchedulePoint& point, int threads,
                         const Roofs& roofs);

}  // namespace fusefarm::codegen
