// Every baseline kernel against the definition of its op, in both builds, with one and several
// threads. The regions go through lower(), so shapes, views and attributes are those of real use.
#include <cmath>

#include <gtest/gtest.h>

#include "codegen/kernels/builtin.h"
#include "tests/codegen/naive_evaluator.h"
#include "tests/codegen/program_executor.h"
#include "tests/codegen/region_fixtures.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;
using graph::fixed;
using graph::OpKind;
using graph::TensorId;
using graph::tokens;
using test::RegionBuilder;

struct Variant {
  DType dtype;
  bool portable;
};

class KernelsTest : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override { force_portable_kernels(GetParam().portable); }

  void TearDown() override { force_portable_kernels(false); }

  void expect_right(const graph::Graph& graph, const graph::Bindings& bindings, int threads) {
    const LowerOptions options = test::options_for(graph, bindings);
    const auto lowered = lower(graph, options);
    ASSERT_TRUE(lowered.ok()) << lowered.error().message;
    const test::Values inputs = test::random_inputs(graph, bindings, 7);
    test::Values expected = inputs;
    test::evaluate(graph, bindings, expected);
    const test::Values actual =
        test::execute(graph, options, lowered.value(), {}, inputs, threads, 1);
    for (const TensorId id : graph.outputs) {
      const DType type = graph.tensor(id).dtype;
      const double tolerance = type == DType::kBF16 ? 0x1p-7 : (type == DType::kI32 ? 0 : 2e-5);
      EXPECT_LE(test::worst_difference(actual.at(id), expected.at(id)), tolerance)
          << "tensor " << id << " T=" << bindings.tokens << " threads=" << threads;
    }
  }

  DType dtype() const { return GetParam().dtype; }
};

TEST_P(KernelsTest, LinearIsRightForTailsInEveryDimension) {
  for (const std::int64_t rows : {1, 3, 8, 17, 70}) {
    for (const bool bias : {false, true}) {
      RegionBuilder b(dtype());
      const TensorId y = b.linear(b.input({tokens(), fixed(300)}), 37, bias);
      expect_right(b.finish({y}), test::bindings_of(rows), rows == 17 ? 3 : 2);
    }
  }
}

TEST_P(KernelsTest, RowOpsAreRightOnColumnsThatAreNoMultipleOfAVector) {
  RegionBuilder b(dtype());
  const TensorId x = b.input({tokens(), fixed(45)});
  const TensorId sum = b.add(x, b.input({tokens(), fixed(45)}));
  const TensorId normed = b.norm(x);
  const TensorId gated = b.silu_mul(b.input({tokens(), fixed(2 * 29)}));
  const TensorId cast = b.op(OpKind::kCast, {x}, {tokens(), fixed(45)},
                             dtype() == DType::kF32 ? DType::kBF16 : DType::kF32);
  const TensorId best = b.op(OpKind::kArgmax, {x}, {tokens()}, DType::kI32);
  const graph::Graph graph = b.finish({sum, normed, gated, cast, best});
  for (const int threads : {1, 2, 3}) {
    expect_right(graph, test::bindings_of(5), threads);
  }
}

TEST_P(KernelsTest, HeadsRopeAndCacheWriteAreRightThroughSplitViews) {
  for (const std::int64_t rotary : {0, 12}) {
    RegionBuilder b(dtype());
    const auto heads = b.split(b.input({tokens(), fixed(8 * 24)}), 4, 2, 24);
    const TensorId positions = b.input({tokens()}, DType::kI32);
    const TensorId slots = b.input({tokens()}, DType::kI32);
    const graph::Dim all{graph::Symbol::kSlots, 1};
    const TensorId q = b.rope(b.norm(heads.q), positions, rotary);
    const auto written =
        b.kv_write(b.rope(heads.k, positions, rotary), heads.v, slots,
                   {b.state({all, fixed(2), fixed(24)}), b.state({all, fixed(2), fixed(24)})});
    expect_right(b.finish({q, written.k, written.v}), test::bindings_of(6), 2);
  }
}

TEST_P(KernelsTest, AttentionIsRightForDecodePrefillAndGroupedHeads) {
  for (const std::int64_t queries : {2, 4, 8}) {
    for (const std::int64_t sequences : {1, 2}) {
      for (const bool causal : {true, false}) {
        RegionBuilder b(dtype());
        const TensorId q = b.input({tokens(), fixed(queries), fixed(24)});
        const graph::Dim all{graph::Symbol::kSlots, 1};
        const TensorId k = b.state({all, fixed(2), fixed(24)});
        const TensorId v = b.state({all, fixed(2), fixed(24)});
        const TensorId positions = b.input({tokens()}, DType::kI32);
        const TensorId y =
            b.op(OpKind::kAttention, {q, k, v, positions}, {tokens(), fixed(queries * 24)}, dtype(),
                 graph::Attrs().set("scale", 0.2).set("causal", std::int64_t{causal}));
        const graph::Graph graph = b.finish({y});
        expect_right(graph, {6, sequences, sequences * 150, sequences}, 2);
        expect_right(graph, {sequences, sequences, sequences * 9, sequences}, 3);
      }
    }
  }
}

TEST_P(KernelsTest, GathersAndExpertsAreRight) {
  RegionBuilder b(dtype());
  const TensorId ids = b.input({tokens()}, DType::kI32);
  const TensorId hidden = b.op(OpKind::kEmbedding, {ids, b.weight({fixed(40), fixed(24)})},
                               {tokens(), fixed(24)}, dtype());
  const TensorId last = b.op(OpKind::kSelectRows, {hidden},
                             {graph::Dim{graph::Symbol::kLogitRows, 1}, fixed(24)}, dtype());
  const TensorId choice = b.input({tokens(), fixed(2)}, DType::kI32);
  const TensorId first =
      b.op(OpKind::kExpertLinear, {hidden, choice, b.weight({fixed(16), fixed(30), fixed(24)})},
           {tokens(2), fixed(30)}, dtype());
  const TensorId second =
      b.op(OpKind::kExpertLinear, {first, choice, b.weight({fixed(16), fixed(20), fixed(30)})},
           {tokens(2), fixed(20)}, dtype());
  const TensorId mixed =
      b.op(OpKind::kMoeFinalize, {second, b.input({tokens(), fixed(2)}, DType::kF32)},
           {tokens(), fixed(20)}, dtype());
  expect_right(b.finish({hidden, last, mixed}), {8, 2, 16, 2}, 2);
}

TEST_P(KernelsTest, RouterIsRightWithGroupsAndSoftmax) {
  for (const char* function : {"sigmoid", "softmax"}) {
    for (const test::NamedRegion& region : test::all_regions(dtype())) {
      if (region.name != "router") {
        continue;
      }
      graph::Graph changed;
      changed.inputs = region.graph.inputs;
      changed.outputs = region.graph.outputs;
      for (const auto& [id, tensor] : region.graph.tensors()) {
        changed.add_tensor(tensor);
      }
      for (graph::Node node : region.graph.nodes()) {
        node.attrs.set("function", std::string(function));
        changed.add_node(node);
      }
      expect_right(changed, test::bindings_of(9), 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, KernelsTest,
                         testing::Values(Variant{DType::kF32, false}, Variant{DType::kBF16, false},
                                         Variant{DType::kF32, true}, Variant{DType::kBF16, true}),
                         [](const auto& variant) {
                           return std::string(graph::to_string(variant.param.dtype)) +
                                  (variant.param.portable ? "Portable" : "Vector");
                         });

TEST(KernelEdgesTest, ArgmaxTakesTheLowerIndexOnATieAndNeverANan) {
  std::vector<float> x(40, -1.0F);
  x[37] = x[12] = x[20] = 3.0F;
  x[2] = std::nanf("");
  std::int32_t index = -1;
  std::vector<TensorArg> args(2);
  args[0] = {x.data(), DType::kF32, 1, 40, 40, {}};
  args[1] = {&index, DType::kI32, 1, 1, 1, {}};
  const auto kernel = BuiltinKernel::prepare(OpKind::kArgmax, {}, args);
  ASSERT_TRUE(kernel.ok());
  kernel.value().run(args, 0, 1);
  EXPECT_EQ(index, 12);
}

TEST(KernelEdgesTest, SiluOfInfinityAndLargeNegativeValuesIsFinite) {
  std::vector<float> x(16, 1.0F);
  x[0] = INFINITY;
  x[1] = -1e30F;
  x[2] = -88.0F;
  x[3] = 100.0F;
  std::vector<float> y(8);
  std::vector<TensorArg> args(2);
  args[0] = {x.data(), DType::kF32, 1, 16, 16, {}};
  args[1] = {y.data(), DType::kF32, 1, 8, 8, {}};
  const auto kernel = BuiltinKernel::prepare(OpKind::kSiluMul, {}, args);
  ASSERT_TRUE(kernel.ok());
  kernel.value().run(args, 0, 1);
  EXPECT_EQ(y[0], INFINITY);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_NEAR(y[2], -88.0 * std::exp(-88.0), 1e-42);
  EXPECT_FLOAT_EQ(y[3], 100.0F);
}

TEST(KernelEdgesTest, ContradictingShapesAreRefusedAtPrepare) {
  std::vector<TensorArg> args(3);
  args[0] = {nullptr, DType::kF32, 4, 32, 32, {}};
  args[1] = {nullptr, DType::kF32, 2, 16 * 31, 16 * 31, packed_linear_layout(DType::kF32)};
  args[2] = {nullptr, DType::kF32, 4, 32, 32, {}};
  EXPECT_FALSE(BuiltinKernel::prepare(OpKind::kLinear, {}, args).ok());
  EXPECT_FALSE(BuiltinKernel::prepare(OpKind::kAllReduce, {}, args).ok());
  EXPECT_FALSE(BuiltinKernel::prepare(OpKind::kSiluMul, {}, args).ok());
}

}  // namespace
}  // namespace fusefarm::codegen
