// Compulsory work: what any implementation must do, whatever its schedule. Headroom is measured
// against this and measured roofs, never against a utilisation counter (roofline model, Williams
// 2009).
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace fusefarm::graph {

struct Cost {
  std::int64_t bytes_read = 0;  // activations, inputs, state
  std::int64_t bytes_written = 0;
  std::int64_t weight_bytes = 0;  // each weight once
  double flops = 0;               // multiply-add = 2

  std::int64_t bytes() const { return bytes_read + bytes_written + weight_bytes; }
};

// One node alone (all its inputs read once, outputs written once). kRegion: of its body as a whole.
// Expert layers count the experts expected to be touched under uniform routing:
// E * (1 - (1 - k/E)^T) (workloads.md B1).
Cost node_cost(const Graph& graph, const Node& node, const Bindings& bindings);

// A region as one unit: interior tensors cost nothing.
Cost region_cost(const Graph& region, const Bindings& bindings);

}  // namespace fusefarm::graph
