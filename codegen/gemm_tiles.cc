#include <algorithm>

#include "codegen/gemm_emitter.h"
#include "codegen/region_shape.h"

namespace fusefarm::codegen {
namespace {

constexpr std::int64_t kRowBlock = 64;
constexpr std::int64_t kLine = 64;

// Widened vectors w0.. of one k, from `w` plus an element offset.
void emit_weights(SourceText& text, const GemmShape& shape, bool f32, std::int64_t offset) {
  if (!f32 && shape.pair) {
    for (std::int64_t i = 0; i < shape.tile_vectors; i += 2) {
      text.line("u8x d$0; __builtin_memcpy(&d$0, w + i * $1 + $2, 32);",
                {i, shape.panel, offset + 8 * i});
      text.line("v8 w$0 = (v8)(d$0 << 16), w$1 = (v8)(d$0 & 0xffff0000u);", {i, i + 1});
    }
    return;
  }
  for (std::int64_t i = 0; i < shape.tile_vectors; ++i) {
    text.line("v8 w$0 = ff_load(w + i * $1 + $2);", {i, shape.panel, offset + 8 * i});
  }
}

// One prefetch per cache line of the weight stream: either a fixed distance ahead, or, spread over
// the tiles of rows, this tile's share of the next slice.
void emit_prefetch(SourceText& text, const GemmShape& shape, std::int64_t u,
                   std::int64_t step_bytes) {
  const std::int64_t share = shape.spread() ? shape.tiles() : 1;
  const std::int64_t begin = u * step_bytes / share;
  const std::int64_t end = (u + 1) * step_bytes / share;
  for (std::int64_t line = (begin + kLine - 1) / kLine * kLine; line < end; line += kLine) {
    if (shape.spread()) {
      text.line("__builtin_prefetch(ahead + i * $0 / $1 + $2);", {step_bytes, share, line});
    } else {
      text.line("__builtin_prefetch((const char*)(w + i * $0) + $1);",
                {shape.panel, line + shape.prefetch});
    }
  }
}

void emit_tile(SourceText& text, const GemmShape& shape, const InputPanel& x, std::int64_t rows,
               bool f32, bool prefetch) {
  const std::int64_t x_row = x.tiles ? 1 : x.row_stride();
  const std::int64_t x_step = x.tiles ? shape.tile_rows : 1;
  text.line(
      "static __attribute__((noinline)) void tile$0_$1$2(const float* x, const $3* w, float* y, "
      "long depth, bool first$4) {",
      {shape.stage, rows, prefetch ? "p" : "", f32 ? "float" : "u16",
       prefetch && shape.spread() ? ", const char* ahead" : ""});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t v = 0; v < shape.tile_vectors; ++v) {
      text.line("v8 y$0_$1 = first ? ff_splat(0.0f) : ff_load(y + $2);",
                {r, v, r * shape.width + 8 * v});
    }
  }
  text.line("for (long i = 0; i < depth; i += $0) {", {shape.k_unroll});
  const std::int64_t step_bytes = shape.panel * (f32 ? 4 : 2);
  for (std::int64_t u = 0; u < shape.k_unroll; ++u) {
    text.line("{");
    if (prefetch) {
      emit_prefetch(text, shape, u, step_bytes);
    }
    emit_weights(text, shape, f32, u * shape.panel);
    for (std::int64_t r = 0; r < rows; ++r) {
      text.line("v8 x$0 = ff_splat(x[i * $1 + $2]);", {r, x_step, r * x_row + u * x_step});
      for (std::int64_t v = 0; v < shape.tile_vectors; ++v) {
        text.line("y$0_$1 = x$0 * w$1 + y$0_$1;", {r, v});
      }
    }
    text.line("}");
  }
  text.line("}");
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t v = 0; v < shape.tile_vectors; ++v) {
      text.line("ff_store(y + $2, y$0_$1);", {r, v, r * shape.width + 8 * v});
    }
  }
  text.line("}");
}

std::int64_t panels_of_unit(const Stage& stage, const Generator& generator, std::int64_t panel) {
  if (stage.head_dim > 0) {
    return stage.head_dim / panel;
  }
  return stage.halves ? 2 : generator.at("unit_panels", 1);
}

}  // namespace

bool GemmShape::partial() const {
  if (layout.order == RowOrder::kHalves) {
    return (n / 2) % panel != 0;
  }
  return n % width != 0;
}

GemmShape gemm_shape(const Generator& generator, int stage_index) {
  const Stage& stage = generator.plan.stages[static_cast<std::size_t>(stage_index)];
  const graph::Node& linear = generator.region.node(stage.linear);
  const graph::Tensor& weight = generator.region.tensor(linear.inputs[1]);
  GemmShape shape;
  shape.stage = stage_index;
  shape.rows = generator.rows(linear.inputs[0]);
  shape.n = weight.shape[0].factor;
  shape.k = weight.shape[1].factor;
  shape.panel = generator.at("panel", 16);
  shape.panels = panels_of_unit(stage, generator, shape.panel);
  shape.width = shape.panels * shape.panel;
  shape.units = stage.halves ? (shape.n / 2 + shape.panel - 1) / shape.panel
                             : (shape.n + shape.width - 1) / shape.width;
  shape.tile_rows = std::min(generator.at("tile_rows", 4), shape.rows);
  shape.tile_vectors = generator.at("tile_vectors", 2);
  const std::int64_t depth = generator.at("k_block");
  shape.k_block = depth == 0 ? shape.k : std::min(depth, shape.k);
  shape.k_unroll = generator.at("k_unroll", 1);
  // Whole tiles: x may be laid out in them.
  shape.row_block = std::min(kRowBlock / shape.tile_rows * shape.tile_rows, shape.rows);
  shape.prefetch = generator.at("prefetch");
  const std::int64_t widen = generator.at("widen");
  shape.weight_dtype = widen == 2 ? graph::DType::kF32 : weight.dtype;
  shape.widen = widen == 1 && weight.dtype == graph::DType::kBF16;
  shape.pair = generator.at("pair") != 0 && shape.weight_dtype == graph::DType::kBF16;
  shape.layout.panel = shape.panel;
  shape.layout.order = stage.halves ? RowOrder::kHalves : RowOrder::kLinear;
  shape.layout.dtype = shape.weight_dtype;
  shape.layout.pair_interleave = shape.pair;
  const std::int64_t blocks = generator.threads * generator.at("blocks_per_thread", 1);
  shape.units_per_block = std::max<std::int64_t>(1, (shape.units + blocks - 1) / blocks);
  return shape;
}

void emit_tiles(Generator& generator, const GemmShape& shape, const InputPanel& x) {
  const bool f32 = shape.widen || shape.weight_dtype == graph::DType::kF32;
  const std::int64_t full = shape.tile_rows;
  std::vector<std::int64_t> counts{full};
  for (std::int64_t begin = 0; begin < shape.rows; begin += shape.row_block) {
    const std::int64_t rows = std::min(shape.row_block, shape.rows - begin);
    if (rows % full != 0 && std::ranges::find(counts, rows % full) == counts.end()) {
      counts.push_back(rows % full);
    }
  }
  for (const std::int64_t rows : counts) {
    emit_tile(generator.text, shape, x, rows, f32, false);
    if (shape.prefetch > 0 && !shape.widen) {
      emit_tile(generator.text, shape, x, rows, f32, true);
    }
  }
  generator.text.blank();
}

}  // namespace fusefarm::codegen
