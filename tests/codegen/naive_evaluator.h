// An evaluation of graphs by the definition of each op, in double, rounded to each tensor's dtype
// where the unfused graph stores it. Independent of the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::codegen::test {

using Values = std::map<graph::TensorId, std::vector<double>>;

double rounded(double value, graph::DType dtype);

// Random inputs, weights and state of the graph, already rounded to their dtypes. Integer inputs of
// one column are positions, slots or token ids: a random permutation of [0, T).
Values random_inputs(const graph::Graph& graph, const graph::Bindings& bindings,
                     std::uint64_t seed);

// Adds every other tensor. State outputs are whole caches.
void evaluate(const graph::Graph& graph, const graph::Bindings& bindings, Values& values);

}  // namespace fusefarm::codegen::test
