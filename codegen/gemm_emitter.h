// GEMM stages: tiles of accumulators over a prepared weight, and an epilogue on each block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/generator.h"
#include "codegen/op_emitter.h"
#include "codegen/row_emitter.h"

namespace fusefarm::codegen {

constexpr std::int64_t kManyRows = 12;  // from here on slices of x are worth sharing

// Everything about one GEMM stage that the schedule and the shapes decide.
struct GemmShape {
  int stage = 0;
  std::int64_t rows = 0, n = 0, k = 0;  // y[rows, n] = x[rows, k] W^T
  std::int64_t panel = 16;
  std::int64_t panels = 1;  // in one unit of the epilogue
  std::int64_t width = 16;  // panels * panel: columns of the accumulator block
  std::int64_t units = 1;   // in all
  std::int64_t tile_rows = 4, tile_vectors = 2;
  std::int64_t k_block = 0, k_unroll = 1, row_block = 64;
  std::int64_t prefetch = 0;
  bool pair = false, widen = false;
  graph::DType weight_dtype = graph::DType::kBF16;  // of the prepared weight
  PreparedLayout layout;
  std::int64_t units_per_block = 1;

  std::int64_t blocks() const { return (units + units_per_block - 1) / units_per_block; }

  std::int64_t tiles() const { return (row_block + tile_rows - 1) / tile_rows; }

  // Prefetching of the next slice is spread over the tiles of rows (prefetch 1), so that memory is
  // read evenly and not only under the first tile.
  bool spread() const { return prefetch == 1; }

  // Few rows: panels one after the other, so that the weight is read as one stream. Many: they
  // share slices of x.
  bool streams() const { return rows < kManyRows || panels == 1; }

  bool partial() const;  // the last unit has fewer columns than `width`
};

GemmShape gemm_shape(const Generator& generator, int stage);

// The tile functions of a stage, named tile<stage>_<rows>[p]: p prefetches the weight.
void emit_tiles(Generator& generator, const GemmShape& shape, const InputPanel& x);

// The accumulators y[row_block][width] of unit `unit`, rows [m0, m1). `weight` and `input` name the
// prepared weight and x.
void emit_products(Generator& generator, const GemmShape& shape, const InputPanel& x,
                   const std::string& weight, const std::string& input);

// The entry "gemm<stage>" and its step. `prologue`: row work done at the start of every block.
void emit_gemm_entry(Generator& generator, const GemmShape& shape, const RowWork& prologue);

// The reduction over blocks after a GEMM with argmax.
void emit_argmax_entry(Generator& generator, const GemmShape& shape);

}  // namespace fusefarm::codegen
