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

TEST(InferTest, AWrongShapeOrTypeOfAnyOperandOfAnyOpIsFound) {
  for (const char* name : {"tiny-moe", "tiny-diffusion-moe"}) {
    for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) {
      const Graph graph = model_of(name, {.tensor_parallel = 2, .phase = phase});
      ASSERT_TRUE(validate(graph).ok());
      for (const auto& [id, tensor] : graph.tensors()) {
        const Graph wider = with_tensor(graph, id, [](Tensor& t) { t.shape.back().factor += 2; });
        EXPECT_FALSE(validate(wider).ok()) << tensor.name;
        const Graph longer = with_tensor(graph, id, [](Tensor& t) { t.shape.push_back(fixed(2)); });
        EXPECT_FALSE(validate(longer).ok()) << tensor.name;
        const Graph retyped = with_tensor(graph, id, [](Tensor& t) {
          t.dtype = t.dtype == DType::kI32 ? DType::kBF16 : DType::kI32;
        });
        EXPECT_FALSE(validate(retyped).ok()) << tensor.name;
      }
    }
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
