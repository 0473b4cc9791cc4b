#include <algorithm>

#include "codegen/gemm_emitter.h"

namespace fusefarm::codegen {

namespace {

// The panel's slice as f32, once for all tiles of rows.
void emit_wide_slice(SourceText& text, const GemmShape& shape) {
  text.line("alignas(64) float wide[$0];", {shape.k_block * shape.panel});
  const std::int64_t step = shape.pair ? 16 : 8;
  text.line("for (long i = 0; i < depth * $0; i += $1) {", {shape.panel, step});
  if (shape.prefetch > 0) {
    text.line("__builtin_prefetch((const char*)(w + i) + $0);", {shape.prefetch});
  }
  if (shape.pair) {
    text.line("u8x d; __builtin_memcpy(&d, w + i, 32);");
    text.line("ff_store(wide + i, (v8)(d << 16));");
    text.line("ff_store(wide + i + 8, (v8)(d & 0xffff0000u));");
  } else {
    text.line("ff_store(wide + i, ff_load(w + i));");
  }
  text.line("}");
}

// Where the slice that is multiplied next begins.
std::string next_slice(const GemmShape& shape) {
  const std::int64_t whole = shape.k * shape.panel;
  if (shape.streams()) {
    return filled("w + depth * $0", {shape.panel});
  }
  return filled("(q + 1 < $0 ? w + $1 : w - $2 + depth * $3)",
                {shape.panels, whole, (shape.panels - 1) * whole, shape.panel});
}

// All tiles of one slice: rows [m0, m1) times the panel's columns.
void emit_tile_calls(SourceText& text, const GemmShape& shape, const InputPanel& x,
                     const std::string& input) {
  const bool prefetch = shape.prefetch > 0 && !shape.widen;
  const bool spread = prefetch && shape.spread();
  const std::string x_row = x.tiles ? filled("$0 + (m / $1) * $2 + k0 * $1",
                                             {input, x.tile_rows, x.tile_rows * x.columns})
                                    : filled("$0 + m * $1 + k0", {input, x.row_stride()});
  const std::string target = filled("y + (m - m0) * $0 + q * $1 + n", {shape.width, shape.panel});
  const std::int64_t step_bytes = shape.panel * graph::bytes_of(shape.weight_dtype);
  const auto call = [&](std::int64_t rows, bool ahead) {
    const std::string place = filled(", next + (m - m0) / $0 * (depth * $1 / $2)",
                                     {shape.tile_rows, step_bytes, shape.tiles()});
    text.line("tile$0_$1$2($3, $4 + n, $5, depth, k0 == 0$6);",
              {shape.stage, rows, ahead ? "p" : "", x_row, shape.widen ? "wide" : "w", target,
               ahead && spread ? place : ""});
  };
  const std::int64_t full = shape.tile_rows;
  if (spread) {
    text.line("const char* next = (const char*)($0);", {next_slice(shape)});
  }
  text.line("for (long n = 0; n < $0; n += $1) {", {shape.panel, 8 * shape.tile_vectors});
  text.line("long m = m0;");
  // The first tile brings the weights in; the others find them in the cache.
  if (prefetch && !spread) {
    text.line("if (m + $0 <= m1) {", {full});
    call(full, true);
    text.line("m += $0;", {full});
    text.line("}");
  }
  text.line("for (; m + $0 <= m1; m += $0) {", {full});
  call(full, spread);
  text.line("}");
  std::vector<std::int64_t> rests;
  for (std::int64_t begin = 0; begin < shape.rows; begin += shape.row_block) {
    const std::int64_t rest = std::min(shape.row_block, shape.rows - begin) % full;
    if (rest > 0 && std::ranges::find(rests, rest) == rests.end()) {
      rests.push_back(rest);
      text.line("if (m1 - m == $0) {", {rest});
      call(rest, spread);
      text.line("}");
    }
  }
  text.line("}");
}

}  // namespace

void emit_products(Generator& generator, const GemmShape& shape, const InputPanel& x,
                   const std::string& weight, const std::string& input) {
  SourceText& text = generator.text;
  const auto open_depth = [&] {
    text.line("for (long k0 = 0; k0 < $0; k0 += $1) {", {shape.k, shape.k_block});
    if (shape.k % shape.k_block == 0) {
      text.line("const long depth = $0;", {shape.k_block});
    } else {
      text.line("long depth = $0 - k0 < $1 ? $0 - k0 : $1;", {shape.k, shape.k_block});
    }
  };
  const auto open_panels = [&] { text.line("for (long q = 0; q < $0; ++q) {", {shape.panels}); };
  if (shape.streams()) {
    open_panels();
    open_depth();
  } else {
    open_depth();
    open_panels();
  }
  text.line("const $0* w = $1 + ((unit * $2 + q) * $3 + k0) * $4;",
            {source_type(shape.weight_dtype), weight, shape.panels, shape.k, shape.panel});
  if (shape.widen) {
    emit_wide_slice(text, shape);
  }
  emit_tile_calls(text, shape, x, input);
  text.line("}");
  text.line("}");
}

}  // namespace fusefarm::codegen
