// The oracle's values against naive loops in double, for every op of the model families.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "graph/graph_builder.h"
#include "tests/verify/region_fixture.h"

namespace fusefarm::verify {
namespace {

void expect_same_values(const RegionCase& region_case, const std::string& what) {
  const Elements exact =
      run_reference(region_case.region(), region_case.bindings(), region_case.inputs(), {});
  for (const auto& [id, tensor] : region_case.oracle().tensors) {
    const std::vector<double>& expected = exact.at(id);
    const auto width = static_cast<std::size_t>(tensor.row_width());
    double scale = 0;
    for (const double v : expected) {
      scale = std::max(scale, std::fabs(v));
    }
    for (std::size_t i = 0; i < tensor.value.size(); ++i) {
      const std::size_t at =
          tensor.state ? static_cast<std::size_t>(tensor.rows[i / width]) * width + i % width : i;
      ASSERT_NEAR(tensor.value[i], expected[at], 1e-11 * scale)
          << what << " tensor " << id << " element " << at;
    }
  }
  for (const auto& [id, choice] : region_case.oracle().choices) {
    for (std::size_t row = 0; row < choice.acceptable.size(); ++row) {
      const auto best = static_cast<std::int32_t>(exact.at(id)[row]);
      EXPECT_TRUE(std::count(choice.acceptable[row].begin(), choice.acceptable[row].end(), best))
          << what << " row " << row;
    }
  }
}

class OracleTest : public testing::TestWithParam<graph::DType> {};

TEST_P(OracleTest, AgreesWithNaiveLoopsOnEveryDenseRegionClass) {
  const graph::Graph model = dense_model(graph::Phase::kDecode, GetParam());
  for (const RegionClass& region_class : dense_classes()) {
    const RegionCase region_case(model, region_of(model, region_class), decode_bindings(),
                                 {Distribution::kNormal, 3, false, 0});
    expect_same_values(region_case, region_class.name);
  }
}

TEST_P(OracleTest, AgreesWithNaiveLoopsOnAWholePrefill) {
  const graph::Graph model = dense_model(graph::Phase::kPrefill, GetParam());
  expect_same_values(RegionCase(model, model, prefill_bindings(), {}), "prefill");
}

TEST_P(OracleTest, AgreesWithNaiveLoopsOnAGroupedRouterModel) {
  const graph::Graph model = moe_model(GetParam());
  const RegionClass router{"router", {"router_select"}};
  expect_same_values(RegionCase(model, region_of(model, router), decode_bindings(), {}), "router");
  const RegionClass experts{
      "experts",
      {"experts.gate_up_proj", "experts.silu_mul", "experts.down_proj", "experts.finalize"}};
  expect_same_values(RegionCase(model, region_of(model, experts), decode_bindings(), {}),
                     "experts");
}

INSTANTIATE_TEST_SUITE_P(DTypes, OracleTest,
                         testing::Values(graph::DType::kBF16, graph::DType::kF32),
                         [](const auto& c) { return std::string(to_string(c.param)); });

graph::Graph rope_graph(const graph::Attrs& attrs) {
  graph::Graph graph;
  graph::GraphBuilder b(graph, graph::DType::kF32);
  const auto x =
      b.input("x", graph::DType::kF32, {graph::tokens(), graph::fixed(2), graph::fixed(64)});
  const auto positions = b.input("positions", graph::DType::kI32, {graph::tokens()});
  graph.outputs = {
      b.op(graph::OpKind::kRope, "rope", {x, positions}, graph.tensor(x).shape, attrs)};
  return graph;
}

TEST(RopeOracleTest, RotatesPartOfAHeadInterleavedAndWithLlama3Scaling) {
  const auto base = [] {
    return graph::Attrs().set("theta", 5e5).set("rotary_dim", std::int64_t{32});
  };
  for (const std::int64_t interleaved : {0, 1}) {
    for (const bool scaled : {false, true}) {
      graph::Attrs attrs = base();
      attrs.set("interleaved", interleaved);
      if (scaled) {
        attrs.set("scaling", "llama3").set("scaling_factor", 8.0).set("low_freq_factor", 1.0);
        attrs.set("high_freq_factor", 4.0).set("original_max_position", std::int64_t{512});
      }
      const graph::Graph graph = rope_graph(attrs);
      expect_same_values(RegionCase(graph, graph, {3, 3, 30000, 3}, {}), "rope");
    }
  }
}

TEST(OracleErrorTest, AMissingInputAndACollectiveOverRanksAreErrors) {
  graph::Graph graph;
  graph::GraphBuilder b(graph, graph::DType::kBF16);
  const auto x = b.input("x", graph::DType::kBF16, {graph::tokens(), graph::fixed(8)});
  graph.outputs = {b.op(graph::OpKind::kAllReduce, "reduce", {x}, graph.tensor(x).shape,
                        graph::Attrs().set("group", std::int64_t{8}))};
  EXPECT_EQ(evaluate(graph, {1, 1, 1, 1}, {}).error().code, ErrorCode::kInvalidArgument);
  const std::vector<std::byte> bytes(16);
  const TensorValues inputs{{x, {graph::DType::kBF16, {1, 8}, bytes}}};
  EXPECT_EQ(evaluate(graph, {1, 1, 1, 1}, inputs).error().code, ErrorCode::kUnsupported);
}

TEST(ArgmaxOracleTest, EqualExactScoresGoToTheLowerIndexAlone) {
  graph::Graph graph;
  graph::GraphBuilder b(graph, graph::DType::kF32);
  const auto x =
      b.input("x", graph::DType::kF32, {graph::Dim{graph::Symbol::kLogitRows, 1}, graph::fixed(4)});
  graph.outputs = {b.op(graph::OpKind::kArgmax, "argmax", {x},
                        {graph::Dim{graph::Symbol::kLogitRows, 1}}, graph::DType::kI32)};
  const std::vector<float> scores{1, 3, 3, 2};
  const TensorValues inputs{{x, {graph::DType::kF32, {1, 4}, std::as_bytes(std::span(scores))}}};
  const auto evaluated = evaluate(graph, {1, 1, 1, 1}, inputs);
  ASSERT_TRUE(evaluated.ok()) << evaluated.error().message;
  EXPECT_EQ(evaluated->choices.at(graph.outputs[0]).acceptable[0], std::vector<std::int32_t>{1});
}

}  // namespace
}  // namespace fusefarm::verify
