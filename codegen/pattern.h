// What the generator can implement: a region as a sequence of stages. A row stage maps rows to rows
// (norms, adds, rope, KV writes, gating, routing); a GEMM stage is one linear layer with an
// epilogue that needs only its own block of columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::codegen {

enum class StageKind : std::uint8_t { kRows, kGemm };

struct Stage {
  StageKind kind = StageKind::kRows;
  graph::NodeId linear = graph::kNone;  // kGemm
  // kRows: the row ops in order. kGemm: the epilogue ops in order, views among them.
  std::vector<graph::NodeId> nodes;
  // kGemm: the block of columns that the epilogue needs whole. 0: any. Otherwise a head's columns.
  std::int64_t head_dim = 0;
  bool halves = false;  // kGemm: the epilogue starts with silu_mul: gate and up must meet
  bool argmax = false;  // kGemm: partial maxima per block, then one more step
};

struct RegionPlan {
  std::vector<Stage> stages;
  // rowwise | router | skinny_gemm | gemm_silu_mul | gemm_heads | lm_head_argmax | gemm_chain
  std::string family;
};

// nullopt: the generator has nothing for this region. Quick: no allocation beyond the plan; called
// for every enumerated region.
std::optional<RegionPlan> match(const graph::Graph& region);

// Whether an op can be part of a generated region at all (graph::EnumerateOptions::may_contain).
bool may_fuse(const graph::Node& node);

}  // namespace fusefarm::codegen
