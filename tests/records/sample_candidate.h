// A candidate that uses every part of the launch plan.
#pragma once

#include "records/candidate.h"

namespace fusefarm {

inline BufferSpec plain_buffer(BufferKind kind, graph::Dim rows, std::int64_t columns) {
  BufferSpec buffer;
  buffer.kind = kind;
  buffer.rows = rows;
  buffer.columns = columns;
  return buffer;
}

inline Candidate sample_candidate() {
  Candidate candidate;
  candidate.region = digest_of("region");
  candidate.source = "void rows(const FfArgs* a, long b) {}\n";
  candidate.flags = {"-O3", "-mavx2"};
  candidate.origin = "builtin";
  candidate.family = "rowwise";
  candidate.schedule = {{"rows_per_block", 4}, {"vector", 8}};
  BufferSpec prepared;
  prepared.kind = BufferKind::kPrepared;
  prepared.weight = 2;
  prepared.layout = {32, RowOrder::kHalves, graph::DType::kBF16, true};
  candidate.plan.buffers = {plain_buffer(BufferKind::kScratch, graph::tokens(8), 1024), prepared};
  candidate.plan.steps = {
      KernelStep{.entry = "rows",
                 .grid = {graph::tokens(), 4},
                 .args = {InputArg{0}, OutputArg{1}, BufferArg{1}, DimArg{graph::tokens(16)},
                          DimArg{graph::fixed(1024)}, ConstantArg{-3}}},
      LibraryStep{7}};
  return candidate;
}

}  // namespace fusefarm
