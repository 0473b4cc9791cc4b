#include "graph/infer.h"

#include <functional>

#include <gtest/gtest.h>

#include "graph/graph_io.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

// The model with one tensor changed.
Graph with_tensor(const Graph& graph, TensorId changed,
                  const std::function<void(Tensor&)>& change) {
  Graph out;
  for (const auto& [id, source] : graph.tensors()) {
    Tensor tensor = source;
    if (id == changed) {
      change(tensor);
    }
    out.add_tensor(std::move(tensor));
  }
  for (const Node& node : graph.nodes()) {
    out.add_node(node);
  }
  out.inputs = graph.inputs;
  out.outputs = graph.outputs;
  return out;
}

void expect_each_tensor_matters(const Graph& graph) {
  ASSERT_TRUE(validate(graph).ok());
  const auto wider = [](Tensor& t) { t.shape.back().factor += 2; };
  const auto longer = [](Tensor& t) { t.shape.push_back(fixed(2)); };
  const auto retyped = [](Tensor& t) {
    t.dtype = t.dtype == DType::kI32 ? DType::kBF16 : DType::kI32;
  };
  for (const auto& [id, tensor] : graph.tensors()) {
    EXPECT_FALSE(validate(with_tensor(graph, id, wider)).ok()) << tensor.name;
    EXPECT_FALSE(validate(with_tensor(graph, id, longer)).ok()) << tensor.name;
    EXPECT_FALSE(validate(with_tensor(graph, id, retyped)).ok()) << tensor.name;
  }
}

TEST(InferTest, AWrongShapeOrTypeOfAnyOperandOfAnyOpIsFound) {
  for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
    expect_each_tensor_matters(model_of("tiny-moe", {.tensor_parallel = 2, .phase = phase}));
    expect_each_tensor_matters(
        model_of("tiny-diffusion-moe", {.tensor_parallel = 2, .phase = phase}));
  }
}

TEST(InferTest, RoundingPointsAreDeclaredNotImplied) {
  // bf16 scores would be another rounding point than the model has.
  const Graph graph = model_of("tiny-moe");
  const Node& select = graph.node(node_named(graph, "layers.1.mlp.router_select"));
  const Graph rounded =
      with_tensor(graph, select.inputs[0], [](Tensor& t) { t.dtype = DType::kBF16; });
  EXPECT_FALSE(validate(rounded).ok());
}

TEST(InferTest, SizesThatWouldOverflowAreRefused) {
  const Graph graph = model_of("tiny-dense");
  const Graph huge = with_tensor(graph, graph.inputs.back(), [](Tensor& t) {
    for (Dim& dim : t.shape) {
      dim.factor = std::int64_t{1} << 30;
    }
  });
  ASSERT_FALSE(validate(huge).ok());
  EXPECT_NE(validate(huge).error().message.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm::graph
