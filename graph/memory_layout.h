// Where tensors lie in the two shared memory regions. Pure functions of graph and bindings, so that
// worker, judge and both arms agree without talking: a *launch set* holds one launch's boundary
// tensors; the *weights region* holds every weight once, as the model has it (row-major).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::graph {

constexpr std::int64_t kTensorAlignment = 4096;  // a page: guard pages can stand between tensors

struct BoundaryLayout {
  std::map<TensorId, std::int64_t> offset;  // bytes inside one launch set
  std::int64_t bytes = 0;                   // of one launch set
};

// Boundary tensors: graph inputs that are not weights, graph outputs, and `exposed` activations
// (those that the graph does not have are ignored). A state output lies where the state input that
// it aliases lies (followed through kRegion nodes).
BoundaryLayout boundary_layout(const Graph& graph, const Bindings& bindings,
                               const std::vector<TensorId>& exposed = {});

// The state input whose memory a tensor overwrites, directly or through a chain of writes; the
// tensor itself when it aliases nothing.
TensorId storage_of(const Graph& graph, TensorId tensor);

struct WeightLayout {
  std::map<TensorId, std::int64_t> offset;
  std::int64_t bytes = 0;
};

// Ascending tensor id. Contracted or not, a graph of one model gives the same layout.
WeightLayout weight_layout(const Graph& graph, const Bindings& bindings);

}  // namespace fusefarm::graph
