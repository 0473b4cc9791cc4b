#include "codegen/region_shape.h"

#include <algorithm>

namespace fusefarm::codegen {

ColumnView column_view(const graph::Graph& region, graph::TensorId tensor) {
  ColumnView view{tensor, 0};
  while (const graph::Node* node = region.producer(view.base)) {
    if (node->op != graph::OpKind::kSplit) {
      break;
    }
    for (const graph::TensorId output : node->outputs) {
      if (output == view.base) {
        break;
      }
      view.column += row_columns(region.tensor(output)).value_or(0);
    }
    view.base = node->inputs.at(0);
  }
  return view;
}

std::optional<std::int64_t> row_columns(const graph::Tensor& tensor) {
  std::int64_t columns = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i].symbol != graph::Symbol::kOne) {
      return std::nullopt;
    }
    columns *= tensor.shape[i].factor;
  }
  return columns;
}

graph::Dim row_dim(const graph::Tensor& tensor) {
  return tensor.shape.empty() ? graph::fixed(1) : tensor.shape.front();
}

bool is_region_input(const graph::Graph& region, graph::TensorId tensor) {
  return std::ranges::find(region.inputs, tensor) != region.inputs.end();
}

bool is_region_output(const graph::Graph& region, graph::TensorId tensor) {
  return std::ranges::find(region.outputs, tensor) != region.outputs.end();
}

}  // namespace fusefarm::codegen
