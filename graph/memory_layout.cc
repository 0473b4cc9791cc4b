#include "graph/memory_layout.h"

namespace fusefarm::graph {
namespace {

std::int64_t place(std::int64_t& end, std::int64_t bytes) {
  const std::int64_t begin = end;
  end += (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  return begin;
}

}  // namespace

TensorId storage_of(const Graph& graph, TensorId tensor) {
  while (const Node* node = graph.producer(tensor)) {
    TensorId next = kNone;
    for (const auto& [output, input] : node->aliases) {
      if (node->outputs[static_cast<std::size_t>(output)] == tensor) {
        next = node->inputs[static_cast<std::size_t>(input)];
      }
    }
    if (next == kNone) {
      break;
    }
    tensor = next;
  }
  return tensor;
}

BoundaryLayout boundary_layout(const Graph& graph, const Bindings& bindings,
                               const std::vector<TensorId>& exposed) {
  BoundaryLayout layout;
  const auto add = [&](TensorId id) {
    const TensorId storage = storage_of(graph, id);
    if (!layout.offset.contains(storage)) {
      layout.offset[storage] = place(layout.bytes, byte_count(graph.tensor(storage), bindings));
    }
    layout.offset[id] = layout.offset[storage];
  };
  for (const TensorId id : graph.inputs) {
    if (graph.tensor(id).kind != TensorKind::kWeight) {
      add(id);
    }
  }
  for (const TensorId id : graph.outputs) {
    add(id);
  }
  for (const TensorId id : exposed) {
    if (graph.tensors().contains(id)) {
      add(id);
    }
  }
  return layout;
}

WeightLayout weight_layout(const Graph& graph, const Bindings& bindings) {
  WeightLayout layout;
  for (const auto& [id, tensor] : graph.tensors()) {
    if (tensor.kind != TensorKind::kWeight) {
      continue;
    }
    layout.offset[id] = place(layout.bytes, byte_count(tensor, bindings));
  }
  return layout;
}

}  // namespace fusefarm::graph
