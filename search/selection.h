// Which regions a phase works on: a heavy set of pairwise disjoint ones (weighted independent set,
// greedy start and local swaps), plus exploration slots that ignore rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::search {

struct Selectable {
  double value = 0;                  // <= 0: never selected by rank
  std::vector<graph::NodeId> nodes;  // of all occurrences
};

struct SelectionOptions {
  std::size_t count_max = 8;
  double explore = 0.1;  // share of the slots, rounded; at least one when count_max >= 8
  std::uint64_t seed = 1;
  int phase = 1;
};

struct Selected {
  std::size_t index = 0;
  bool explored = false;  // may overlap with others: the commit decides
};

// Deterministic in its arguments. Ranked ones first, by falling value, then explored ones.
std::vector<Selected> select_regions(const std::vector<Selectable>& regions,
                                     const SelectionOptions& options);

// The ranked part alone: indices of a maximal disjoint set, by falling value.
std::vector<std::size_t> heavy_disjoint_set(const std::vector<Selectable>& regions);

}  // namespace fusefarm::search
