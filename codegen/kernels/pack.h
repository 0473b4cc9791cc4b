// Prepared weights: a weight[N,K] in the layout a kernel reads (records/launch_plan.h).
#pragma once

#include <cstdint>

#include "graph/dtype.h"
#include "records/launch_plan.h"

namespace fusefarm::codegen {

// Shape of a prepared buffer as a dense matrix of elements of layout.dtype. Panels: one row a
// panel, panel * k columns. Row-major (panel 0): n x k.
struct PreparedShape {
  std::int64_t rows = 0, columns = 0;
};

PreparedShape prepared_shape(const PreparedLayout& layout, std::int64_t n, std::int64_t k);
std::int64_t prepared_bytes(const PreparedLayout& layout, std::int64_t n, std::int64_t k);

// Source row of row `row` of panel `panel`, or -1 where the panel is padded.
std::int64_t source_row(const PreparedLayout& layout, std::int64_t n, std::int64_t panel,
                        std::int64_t row);

// Position of (source row offset `row` inside its panel, column) from the panel's start.
std::int64_t panel_offset(const PreparedLayout& layout, std::int64_t row, std::int64_t column);

// Writes prepared_bytes() bytes to `out`, padding as zero. Panels [thread's share of them] only, so
// that several threads can pack one weight. `weight` is row-major [n, k] of `dtype` (f32 or bf16).
void pack_weight(const PreparedLayout& layout, const void* weight, graph::DType dtype,
                 std::int64_t n, std::int64_t k, void* out, int thread = 0, int threads = 1);

}  // namespace fusefarm::codegen
