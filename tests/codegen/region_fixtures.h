// Small regions of every class, built by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::codegen::test {

// Adds nodes and tensors; the outputs are named by the caller at the end.
class RegionBuilder {
 public:
  explicit RegionBuilder(graph::DType dtype) : dtype_(dtype) {}

  graph::TensorId input(std::vector<graph::Dim> shape, graph::DType dtype);

  graph::TensorId input(std::vector<graph::Dim> shape) { return input(std::move(shape), dtype_); }

  graph::TensorId weight(std::vector<graph::Dim> shape, graph::DType dtype);

  graph::TensorId weight(std::vector<graph::Dim> shape) { return weight(std::move(shape), dtype_); }

  graph::TensorId state(std::vector<graph::Dim> shape);

  graph::TensorId op(graph::OpKind kind, std::vector<graph::TensorId> inputs,
                     std::vector<graph::Dim> shape, graph::DType dtype, graph::Attrs attrs = {});
  graph::TensorId add(graph::TensorId a, graph::TensorId b);
  graph::TensorId norm(graph::TensorId x);
  graph::TensorId linear(graph::TensorId x, std::int64_t n, bool bias = false);
  graph::TensorId silu_mul(graph::TensorId x);
  graph::TensorId rope(graph::TensorId x, graph::TensorId positions, std::int64_t rotary_dim = 0);

  struct Heads {
    graph::TensorId q, k, v;
  };

  Heads split(graph::TensorId x, std::int64_t q, std::int64_t kv, std::int64_t dim);

  struct Caches {
    graph::TensorId k, v;
  };

  Caches kv_write(graph::TensorId k, graph::TensorId v, graph::TensorId slots, Caches caches);

  graph::Graph finish(std::vector<graph::TensorId> outputs);

 private:
  graph::TensorId tensor(graph::TensorKind kind, graph::DType dtype, std::vector<graph::Dim> shape);

  graph::DType dtype_;
  graph::Graph graph_;
  std::vector<graph::TensorId> activations_, weights_;
};

struct NamedRegion {
  std::string name;
  graph::Graph graph;
};

// Every class that match() accepts, with head dim 32 and small widths.
std::vector<NamedRegion> all_regions(graph::DType dtype);

graph::Bindings bindings_of(std::int64_t tokens);

}  // namespace fusefarm::codegen::test
