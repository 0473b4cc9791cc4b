#include "codegen/schedule_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace fusefarm::codegen {

namespace {

using Field = std::int64_t SchedulePoint::*;

constexpr std::array<std::pair<std::string_view, Field>, 18> kFields{{
    {"row_block", &SchedulePoint::row_block},
    {"row_unroll", &SchedulePoint::row_unroll},
    {"row_sums", &SchedulePoint::row_sums},
    {"row_fuse", &SchedulePoint::row_fuse},
    {"row_prefetch", &SchedulePoint::row_prefetch},
    {"row_parts", &SchedulePoint::row_parts},
    {"tile_rows", &SchedulePoint::tile_rows},
    {"tile_vectors", &SchedulePoint::tile_vectors},
    {"panel", &SchedulePoint::panel},
    {"pair", &SchedulePoint::pair},
    {"k_unroll", &SchedulePoint::k_unroll},
    {"prefetch", &SchedulePoint::prefetch},
    {"k_block", &SchedulePoint::k_block},
    {"widen", &SchedulePoint::widen},
    {"blocks_per_thread", &SchedulePoint::blocks_per_thread},
    {"unit_panels", &SchedulePoint::unit_panels},
    {"x_layout", &SchedulePoint::x_layout},
    {"prologue", &SchedulePoint::prologue},
}};

constexpr std::int64_t kRegisters = 16;
constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kWideRowsMin = 12;  // fewer rows don't repay widening first
constexpr std::int64_t kWideBytesMax = 64 << 10;
constexpr std::int64_t kSliceBytesMax = 24 << 10;
constexpr std::int64_t kLocalInputBytesMax = 256 << 10;  // on the stack of every block

std::int64_t units_of(const GemmFacts& gemm, const SchedulePoint& point) {
  if (gemm.halves) {
    return (gemm.n / 2 + point.panel - 1) / point.panel;
  }
  const std::int64_t width = gemm.head_dim > 0 ? gemm.head_dim : point.panel * point.unit_panels;
  return (gemm.n + width - 1) / width;
}

bool valid_gemm_tile(const GemmFacts& gemm, const SchedulePoint& point) {
  const bool half = gemm.weight_width == 2;
  if (point.panel % (kLanes * point.tile_vectors) != 0 ||
      (point.tile_rows > gemm.rows && point.tile_rows != 1)) {
    return false;
  }
  // Accumulators, the weight vectors, a broadcast; the mask of the pairs.
  if (point.tile_rows * point.tile_vectors + point.tile_vectors + 1 > kRegisters) {
    return false;
  }
  if (point.pair != 0 && (!half || point.panel % 16 != 0 || point.widen == 2 ||
                          (point.widen == 0 && point.tile_vectors % 2 != 0))) {
    return false;
  }
  if (point.widen != 0 && (!half || gemm.rows < kWideRowsMin)) {
    return false;
  }
  return gemm.head_dim == 0 || gemm.head_dim % point.panel == 0;
}

bool valid_gemm(const GemmFacts& gemm, const SchedulePoint& point, int threads) {
  if (!valid_gemm_tile(gemm, point)) {
    return false;
  }
  if (gemm.k % point.k_unroll != 0 || point.k_block % point.k_unroll != 0 ||
      point.k_block >= gemm.k) {
    return false;
  }
  if (point.prefetch == 1 &&
      (point.k_block == 0 || gemm.rows <= point.tile_rows || point.widen == 1)) {
    return false;  // nothing to spread
  }
  if (point.widen == 1 && (point.k_block == 0 || point.k_block * point.panel * 4 > kWideBytesMax)) {
    return false;
  }
  if (point.unit_panels > 1 && !gemm.halves && gemm.head_dim == 0 &&
      gemm.n % (point.unit_panels * point.panel) != 0) {
    return false;
  }
  if (point.prologue == 1 && gemm.absorbable && gemm.rows * gemm.k * 4 > kLocalInputBytesMax) {
    return false;
  }
  return point.blocks_per_thread == 1 || units_of(gemm, point) >= point.blocks_per_thread * threads;
}

// Cycles of one k over all rows for eight columns' worth of lanes, by the ports of a current core:
// two multiply-adds, two vector loads, about five operations a cycle.
double cycles_per_step(const GemmFacts& gemm, const SchedulePoint& point) {
  const auto rows = static_cast<double>(std::min(point.tile_rows, gemm.rows));
  const auto vectors = static_cast<double>(point.tile_vectors);
  const double tiles = static_cast<double>((gemm.rows + point.tile_rows - 1) / point.tile_rows);
  const bool wide = point.widen != 0 || gemm.weight_width == 4;
  const double convert = wide ? 0.0 : (point.pair != 0 ? 1.0 : 2.0) * vectors;
  const double multiply = rows * vectors;
  const double loads = rows + (point.pair != 0 && !wide ? vectors / 2 : vectors);
  const double latency = multiply < 8 ? 4.0 : 0.0;  // too few accumulators to hide it
  // Shifts share a port with the multiply-adds; masks mostly do not.
  const double ports = multiply + (wide ? 0.0 : convert * (point.pair != 0 ? 0.35 : 0.6));
  const double control = 2.0 / static_cast<double>(point.k_unroll);
  // Prefetches are spread over unrolled steps; without unrolling lines are asked for repeatedly.
  const double unrolled = 1.0 + 0.03 / static_cast<double>(point.k_unroll);
  const double issue = (multiply + loads + convert + control) / 5.0;
  double cycles = std::max({ports / 2.0, loads / 2.0, issue, latency});
  cycles *= unrolled * tiles / vectors;
  // Rows of a panel wider than the tile are read in pieces; a deep panel leaves the first-level
  // cache before the next tile of rows comes round.
  cycles *= 1.0 + 0.03 * (static_cast<double>(point.panel) / (8.0 * vectors) - 1.0);
  const std::int64_t depth = point.k_block == 0 ? gemm.k : std::min(point.k_block, gemm.k);
  const std::int64_t slice = depth * point.panel * (wide ? 4 : 2);
  cycles *= tiles > 1.0 && slice > kSliceBytesMax ? 1.06 : 1.0;
  if (point.widen == 1) {
    cycles += 1.5;  // once per panel, not per tile
  }
  return cycles;
}

// Share of the shorter of compute and memory time that the longer does not hide (measured on
// streams of decode GEMMs: without prefetch, at a fixed distance, spread over the tiles of rows).
double exposed_share(const SchedulePoint& point) {
  switch (point.prefetch) {
    case 0:
      return 0.30;
    case 1:
      return 0.10;
    case 512:
    case 4096:
      return 0.20;
    default:
      return 0.18;
  }
}

struct Roof {
  double bandwidth, cycle, barrier;
};

double gemm_seconds(const GemmFacts& gemm, const SchedulePoint& point, int threads,
                    const Roof& roof) {
  const double vectors = static_cast<double>(gemm.n) / kLanes;
  const double compute =
      cycles_per_step(gemm, point) * static_cast<double>(gemm.k) * vectors * roof.cycle / threads;
  const double width = point.widen == 2 ? 4.0 : static_cast<double>(gemm.weight_width);
  const double bytes = static_cast<double>(gemm.n) * static_cast<double>(gemm.k) * width;
  const double memory = bytes / roof.bandwidth;
  // Neither hides the other wholly; how much is left depends on who asks for the weights early.
  double seconds = std::max(compute, memory) + exposed_share(point) * std::min(compute, memory);
  const auto units = static_cast<double>(units_of(gemm, point));
  const double share = std::ceil(units / (threads * static_cast<double>(point.blocks_per_thread))) *
                       static_cast<double>(point.blocks_per_thread);
  seconds *= std::max(1.0, share * threads / units);  // the last blocks run alone
  if (point.prologue == 1 && gemm.absorbable) {
    const double elements = static_cast<double>(gemm.rows * gemm.k);
    seconds += elements / kLanes * 2.0 * roof.cycle * static_cast<double>(point.blocks_per_thread);
  }
  return seconds;
}

}  // namespace

std::int64_t& SchedulePoint::field(std::string_view name) {
  for (const auto& [known, member] : kFields) {
    if (known == name) {
      return this->*member;
    }
  }
  FUSEFARM_CHECK(false, "unknown schedule parameter " + std::string(name));
}

SchedulePoint point_of(const Schedule& schedule) {
  SchedulePoint point;
  for (const auto& [name, value] : schedule) {
    point.field(name) = value;
  }
  return point;
}

bool valid_tile(const RegionFacts& facts, const SchedulePoint& point) {
  return std::ranges::all_of(facts.gemms,
                             [&](const GemmFacts& gemm) { return valid_gemm_tile(gemm, point); });
}

bool valid_point(const RegionFacts& facts, const SchedulePoint& point, int threads) {
  const bool any_absorbable =
      std::ranges::any_of(facts.gemms, [](const GemmFacts& gemm) { return gemm.absorbable; });
  if (point.prologue == 1 && !any_absorbable) {
    return false;
  }
  if (point.x_layout == 1 && point.tile_rows == 1) {
    return false;
  }
  if (facts.gemms.empty()) {
    const std::int64_t columns = facts.columns;
    if (point.row_parts > 1 && columns % (kLanes * 2 * point.row_parts) != 0) {
      return false;
    }
    return point.row_block == 1 || point.row_block <= facts.rows;
  }
  return std::ranges::all_of(
      facts.gemms, [&](const GemmFacts& gemm) { return valid_gemm(gemm, point, threads); });
}

Prediction predict_point(const RegionFacts& facts, const SchedulePoint& point, int threads,
                         const Roofs& roofs) {
  Prediction prediction;
  // Two multiply-adds of eight lanes a cycle.
  const double cycle = 32.0 * threads / roofs.flops_per_second;
  const Roof roof{roofs.bytes_per_second, cycle, roofs.barrier_seconds};
  SchedulePoint plain;  // the baseline kernel: 4 x 16, 256 deep, not paired
  plain.prefetch = 1024;
  for (const GemmFacts& gemm : facts.gemms) {
    SchedulePoint base = plain;
    base.widen = gemm.rows >= kWideRowsMin && gemm.weight_width == 2 ? 1 : 0;
    prediction.seconds += gemm_seconds(gemm, point, threads, roof) + roofs.barrier_seconds;
    prediction.unfused_seconds += gemm_seconds(gemm, base, threads, roof);
    prediction.steps += 1 + (gemm.argmax ? 1 : 0);
    const bool own_step = !(point.prologue == 1 && gemm.absorbable);
    prediction.seconds += own_step && facts.row_stages == 0 ? roofs.barrier_seconds : 0.0;
    prediction.steps += own_step && facts.row_stages == 0 ? 1 : 0;
    prediction.seconds += gemm.argmax ? roofs.barrier_seconds : 0.0;
  }
  const double rows = static_cast<double>(std::max<std::int64_t>(1, facts.rows));
  const double blocks =
      std::ceil(rows / static_cast<double>(point.row_block)) * static_cast<double>(point.row_parts);
  const double balance = std::ceil(blocks / threads) * threads / blocks;
  const double activation =
      static_cast<double>(facts.boundary_bytes) / roofs.cache_bytes_per_second;
  const double tuned = 1.0 + 0.05 * static_cast<double>(point.row_unroll == 1) +
                       0.08 * static_cast<double>(facts.norms && point.row_sums == 1) -
                       0.05 * static_cast<double>(point.row_fuse);
  std::int64_t row_stages = facts.row_stages;
  if (point.prologue == 1) {
    row_stages = std::max<std::int64_t>(0, row_stages - 1);
  }
  prediction.steps += static_cast<int>(row_stages);
  prediction.seconds += activation * (facts.gemms.empty() ? balance * tuned : 1.0) +
                        static_cast<double>(row_stages) * roofs.barrier_seconds;
  prediction.unfused_seconds +=
      activation + static_cast<double>(facts.interior_bytes) / roofs.cache_bytes_per_second +
      facts.nodes * roofs.barrier_seconds;
  prediction.bytes = facts.weight_bytes + facts.boundary_bytes;
  return prediction;
}

}  // namespace fusefarm::codegen
