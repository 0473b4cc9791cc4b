// Adds one op with its weights and its output tensor at a time; the importer's hand tool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::graph {

class GraphBuilder {
 public:
  GraphBuilder(Graph& graph, DType dtype) : graph_(graph), dtype_(dtype) {}

  // Names that follow start with "layers.3."; nodes that follow belong to this layer.
  void enter_layer(std::int32_t layer);

  TensorId input(const std::string& name, DType dtype, std::vector<Dim> shape);
  TensorId state(const std::string& name, std::vector<Dim> shape);
  // What a node leaves in the memory of a state tensor.
  TensorId written_state(const std::string& name, const Tensor& before);
  TensorId weight(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                  Init init, double scale);
  // A matrix whose product with unit-variance rows has unit variance.
  TensorId matrix(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape);

  TensorId activation(const std::string& name, DType dtype, std::vector<Dim> shape);

  // A node with one output of this shape, in the model's dtype unless said.
  TensorId op(OpKind kind, const std::string& name, std::vector<TensorId> inputs,
              std::vector<Dim> shape, Attrs attrs = {});
  TensorId op(OpKind kind, const std::string& name, std::vector<TensorId> inputs,
              std::vector<Dim> shape, DType dtype, Attrs attrs = {});
  void node(OpKind kind, const std::string& name, std::vector<TensorId> inputs,
            std::vector<TensorId> outputs, Attrs attrs = {},
            std::vector<std::pair<int, int>> aliases = {});

  // Shapes kept: y = x W^T (+ bias) with W [columns, last dim of x].
  TensorId linear(const std::string& name, TensorId x, std::int64_t columns, bool bias);
  TensorId rms_norm(const std::string& name, TensorId x, double eps);
  TensorId add(const std::string& name, TensorId a, TensorId b);
  TensorId silu_mul(const std::string& name, TensorId gate_up);

  DType dtype() const { return dtype_; }

  const Graph& graph() const { return graph_; }

 private:
  Graph& graph_;
  DType dtype_;
  std::int32_t layer_ = kNone;
  std::string prefix_;
};

}  // namespace fusefarm::graph
