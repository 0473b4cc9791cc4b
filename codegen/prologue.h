// Which row stages can run inside the blocks of the GEMM that they feed, and where the conversion
// of x and the rope angles of the other GEMMs happen.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/pattern.h"
#include "graph/graph.h"

namespace fusefarm::codegen {

// How a GEMM stage gets its x.
struct Prologue {
  int producer = -1;        // stage that computes x; -1: x is a region input
  bool absorbable = false;  // x can be made at the start of every block instead
};

Prologue prologue_of(const graph::Graph& region, const RegionPlan& plan, int gemm_stage);

}  // namespace fusefarm::codegen
