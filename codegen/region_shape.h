// Views and sizes of a region's tensors for one binding: what matching and generation share.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace fusefarm::codegen {

// A tensor as columns [column, column + columns) of another tensor's rows.
struct ColumnView {
  graph::TensorId base = graph::kNone;
  std::int64_t column = 0;
};

// Follows kSplit nodes to the tensor whose memory the elements lie in.
ColumnView column_view(const graph::Graph& region, graph::TensorId tensor);

// Elements of a row: the product of all dims but the first. Symbolic dims beyond the first:
// nullopt.
std::optional<std::int64_t> row_columns(const graph::Tensor& tensor);

// The first dim; 1 for scalars.
graph::Dim row_dim(const graph::Tensor& tensor);

bool is_region_input(const graph::Graph& region, graph::TensorId tensor);
bool is_region_output(const graph::Graph& region, graph::TensorId tensor);

}  // namespace fusefarm::codegen
