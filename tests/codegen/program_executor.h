// Runs a lowered program in this process: a small stand-in for the executor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/lower.h"
#include "graph/graph.h"
#include "tests/codegen/naive_evaluator.h"

namespace fusefarm::codegen::test {

// Compiles a candidate's source with the flags of the farm's compiler; path of the shared object.
// Sources seen before are not compiled again.
std::string compile(const std::string& source, const std::vector<std::string>& flags);

// Runs `lowered` for `graph` with the input values given and returns every boundary output. Memory
// starts poisoned. Blocks run in an order chosen by `seed`, as on `threads` threads.
Values execute(const graph::Graph& graph, const LowerOptions& options, const Lowered& lowered,
               const std::vector<std::string>& artifacts, const Values& inputs, int threads,
               std::uint64_t seed);

LowerOptions options_for(const graph::Graph& graph, const graph::Bindings& bindings);

// Largest |a - b| over (|b| + rms(b)).
double worst_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace fusefarm::codegen::test
