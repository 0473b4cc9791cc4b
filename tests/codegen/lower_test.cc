#include "codegen/lower.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/files.h"
#include "codegen/cpu_generator.h"
#include "codegen/kernels/builtin.h"
#include "graph/model_import.h"
#include "graph/region.h"
#include "tests/codegen/naive_evaluator.h"
#include "tests/codegen/program_executor.h"
#include "tests/codegen/region_fixtures.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;
using graph::Graph;
using graph::OpKind;

constexpr int kThreads = 2;

Graph model(const std::string& name, graph::Phase phase, DType dtype) {
  const std::string path = std::string(FUSEFARM_SOURCE_DIR) + "/configs/models/" + name + ".json";
  const auto text = read_file(path);
  EXPECT_TRUE(text.ok());
  const auto config = graph::parse_model_config(text.value(), path);
  EXPECT_TRUE(config.ok()) << config.error().message;
  graph::ImportOptions options;
  options.phase = phase;
  options.dtype = dtype;
  const auto built = graph::build_model_graph(config.value(), options);
  EXPECT_TRUE(built.ok()) << built.error().message;
  return built.value();
}

constexpr graph::Bindings kDecode{4, 4, 4 * 24, 4};
constexpr graph::Bindings kPrefill{12, 1, 24, 1};

using Table = std::map<Digest, Candidate>;

// The nodes of layer `layer` whose names contain one of `parts`.
std::vector<graph::NodeId> nodes_named(const Graph& graph, std::int32_t layer,
                                       const std::vector<std::string>& parts) {
  std::vector<graph::NodeId> nodes;
  for (const graph::Node& node : graph.nodes()) {
    const bool named = std::ranges::any_of(
        parts, [&](const std::string& part) { return node.name.find(part) != std::string::npos; });
    if (node.layer == layer && named) {
      nodes.push_back(node.id);
    }
  }
  return nodes;
}

Graph contracted(Graph graph, std::int32_t layer, const std::vector<std::string>& parts) {
  const auto result = graph::contract(graph, nodes_named(graph, layer, parts));
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.value();
}

// Both halves of every layer as regions, the rest unfused.
Graph contracted_model(Graph graph, std::int32_t layers) {
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    graph = contracted(
        std::move(graph), layer,
        {"input_layernorm", "qkv_proj", "qkv_split", "q_norm", "k_norm", "rope", "kv_write"});
    graph = contracted(std::move(graph), layer,
                       {"o_proj", "attention_residual", "post_attention", "mlp"});
  }
  return graph;
}

Table generated(const Graph& graph, const graph::Bindings& bindings) {
  Table table;
  for (const graph::Node& node : graph.nodes()) {
    if (node.op != OpKind::kRegion) {
      continue;
    }
    const Digest signature = Digest::from_hex(node.attrs.text("signature")).value();
    const auto plan = match(*node.body);
    EXPECT_TRUE(plan) << node.name;
    const ScheduleSpace space(*node.body, *plan, bindings, kThreads);
    table[signature] = generate(*node.body, signature, *plan, space.start(), kThreads, bindings);
  }
  return table;
}

test::Values run(const Graph& graph, const graph::Bindings& bindings, const Table& table,
                 const test::Values& inputs) {
  LowerOptions options = test::options_for(graph, bindings);
  options.implementation = [&](const Digest& signature) {
    const auto found = table.find(signature);
    return found == table.end() ? nullptr : &found->second;
  };
  const auto lowered = lower(graph, options);
  EXPECT_TRUE(lowered.ok()) << lowered.error().message;
  std::map<Digest, std::string> paths;
  for (const auto& [signature, candidate] : table) {
    paths[candidate.digest()] = test::compile(candidate.source, candidate.flags);
  }
  std::vector<std::string> artifacts;
  for (const Digest& digest : lowered.value().artifacts) {
    artifacts.push_back(paths.at(digest));
  }
  return test::execute(graph, options, lowered.value(), artifacts, inputs, kThreads, 5);
}

void expect_close(const Graph& graph, const test::Values& actual, const test::Values& expected) {
  for (const graph::TensorId id : graph.outputs) {
    const double tolerance = graph.tensor(id).dtype == DType::kI32 ? 0 : 2e-4;
    EXPECT_LE(test::worst_difference(actual.at(id), expected.at(id)), tolerance) << id;
  }
}

TEST(LowerTest, UnfusedModelsEqualTheNaiveEvaluation) {
  for (const char* name : {"tiny-dense", "tiny-moe"}) {
    for (const auto& [phase, bindings] :
         {std::pair{graph::Phase::kDecode, kDecode}, std::pair{graph::Phase::kPrefill, kPrefill}}) {
      const Graph graph = model(name, phase, DType::kF32);
      const test::Values inputs = test::random_inputs(graph, bindings, 11);
      test::Values expected = inputs;
      test::evaluate(graph, bindings, expected);
      expect_close(graph, run(graph, bindings, {}, inputs), expected);
    }
  }
}

TEST(LowerTest, ContractedModelsEqualTheNaiveEvaluationWithAndWithoutCandidates) {
  for (const auto& [phase, bindings] :
       {std::pair{graph::Phase::kDecode, kDecode}, std::pair{graph::Phase::kPrefill, kPrefill}}) {
    const Graph plain = model("tiny-dense", phase, DType::kF32);
    const test::Values inputs = test::random_inputs(plain, bindings, 12);
    test::Values expected = inputs;
    test::evaluate(plain, bindings, expected);
    const Graph graph = contracted_model(plain, 2);
    EXPECT_LT(graph.nodes().size(), plain.nodes().size() - 12);
    expect_close(graph, run(graph, bindings, {}, inputs), expected);
    const Table table = generated(graph, bindings);
    EXPECT_EQ(table.size(), 2U);  // both layers have the same two regions
    expect_close(graph, run(graph, bindings, table, inputs), expected);
  }
}

TEST(LowerTest, NoopCandidateRunsTheSameStepsAsTheUnfusedRegion) {
  for (const test::NamedRegion& region : test::all_regions(DType::kBF16)) {
    const graph::Bindings bindings = test::bindings_of(8);
    const LowerOptions options = test::options_for(region.graph, bindings);
    const auto unfused = lower(region.graph, options);
    const auto noop = lower_candidate(region.graph, noop_candidate(region.graph, {}), options);
    ASSERT_TRUE(unfused.ok() && noop.ok()) << region.name;
    EXPECT_TRUE(noop.value().artifacts.empty());
    ASSERT_EQ(unfused.value().program.steps.size(), noop.value().program.steps.size());
    const test::Values inputs = test::random_inputs(region.graph, bindings, 3);
    EXPECT_EQ(test::execute(region.graph, options, unfused.value(), {}, inputs, 2, 1),
              test::execute(region.graph, options, noop.value(), {}, inputs, 2, 1))
        << region.name;
  }
}

TEST(LowerTest, PrivateBuffersAreReusedOverTheLayers) {
  const Graph graph = model("tiny-dense", graph::Phase::kDecode, DType::kBF16);
  const auto lowered = lower(graph, test::options_for(graph, kDecode));
  ASSERT_TRUE(lowered.ok());
  const auto count = std::ranges::count_if(
      lowered.value().program.buffers,
      [](const ProgramBuffer& buffer) { return buffer.placement == Placement::kPrivate; });
  EXPECT_LE(count, 16);
  EXPECT_GE(count, 5);
}

TEST(LowerTest, ExposedActivationsLieInBoundaryMemoryAndArePoisoned) {
  const Graph graph = model("tiny-dense", graph::Phase::kDecode, DType::kBF16);
  const auto residual = nodes_named(graph, 0, {"mlp_residual"});
  ASSERT_EQ(residual.size(), 1U);
  const graph::TensorId exposed = graph.node(residual[0]).outputs[0];
  LowerOptions options = test::options_for(graph, kDecode);
  options.boundary = graph::boundary_layout(graph, kDecode, {exposed});
  const auto lowered = lower(graph, options);
  ASSERT_TRUE(lowered.ok());
  const auto buffer = static_cast<std::size_t>(lowered.value().tensors.at(exposed).buffer);
  EXPECT_EQ(lowered.value().program.buffers[buffer].placement, Placement::kBoundary);
  EXPECT_TRUE(lowered.value().program.buffers[buffer].poison);
  EXPECT_EQ(lowered.value().program.buffers[buffer].offset, options.boundary.offset.at(exposed));
}

TEST(LowerTest, StateAndInputsAreNeverPoisoned) {
  const Graph graph = model("tiny-dense", graph::Phase::kDecode, DType::kBF16);
  const auto lowered = lower(graph, test::options_for(graph, kDecode));
  ASSERT_TRUE(lowered.ok());
  std::int64_t poisoned = 0;
  for (const ProgramBuffer& buffer : lowered.value().program.buffers) {
    poisoned += buffer.poison ? 1 : 0;
  }
  EXPECT_EQ(poisoned, 1);  // the token ids; the other outputs are caches
}

TEST(LowerTest, EachGemmLibraryGetsTheWeightItWants) {
  test::RegionBuilder b(DType::kBF16);
  const auto y = b.linear(b.input({graph::tokens(), graph::fixed(64)}), 96);
  const Graph graph = b.finish({y});
  const auto weight_of = [&](const std::string& library) {
    LowerOptions options = test::options_for(graph, test::bindings_of(8));
    options.gemm = [&](std::int64_t rows, std::int64_t n, std::int64_t k, DType dtype) {
      EXPECT_EQ(std::tuple(rows, n, k, dtype), std::tuple(8, 96, 64, DType::kBF16));
      return library;
    };
    const auto lowered = lower(graph, options);
    EXPECT_TRUE(lowered.ok());
    const ProgramStep& step = lowered.value().program.steps.at(0);
    EXPECT_EQ(step.choice, library);
    return lowered.value().program.buffers[static_cast<std::size_t>(step.tensors[1].buffer)];
  };
  EXPECT_EQ(weight_of("packed").placement, Placement::kPrepared);
  EXPECT_EQ(weight_of("packed").layout, packed_linear_layout(DType::kBF16));
  EXPECT_EQ(weight_of("openblas").dtype, DType::kF32);
  EXPECT_EQ(weight_of("openblas").layout.panel, 0);
  EXPECT_EQ(weight_of("onednn").placement, Placement::kWeights);
  LowerOptions options = test::options_for(graph, test::bindings_of(8));
  options.gemm = [](auto...) { return std::string("mkl"); };
  const auto refused = lower(graph, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("mkl"), std::string::npos);
}

TEST(LowerTest, WeightsRotateOverEnoughCopies) {
  test::RegionBuilder b(DType::kBF16);
  const auto y = b.linear(b.norm(b.input({graph::tokens(), graph::fixed(64)})), 96);
  const Graph graph = b.finish({y});
  LowerOptions options = test::options_for(graph, test::bindings_of(8));
  options.rotation_bytes = 100'000;  // the weights are 12'416 bytes
  const auto lowered = lower(graph, options);
  ASSERT_TRUE(lowered.ok());
  for (const ProgramStep& step : lowered.value().program.steps) {
    const auto index = static_cast<std::size_t>(step.tensors[1].buffer);
    EXPECT_EQ(lowered.value().program.buffers[index].copies, 9);
  }
}

TEST(LowerTest, PlansThatContradictTheirRegionAreErrors) {
  const test::NamedRegion region = test::all_regions(DType::kBF16)[0];
  const LowerOptions options = test::options_for(region.graph, test::bindings_of(8));
  const auto refused = [&](const LaunchPlan& plan) {
    Candidate candidate;
    candidate.plan = plan;
    const auto lowered = lower_candidate(region.graph, candidate, options);
    return !lowered.ok() && lowered.error().code == ErrorCode::kInvalidArgument;
  };
  LaunchPlan plan;
  plan.steps = {LibraryStep{12345}};
  EXPECT_TRUE(refused(plan));
  plan.steps = {KernelStep{"f", {graph::fixed(1), 1}, {InputArg{99}}}};
  EXPECT_TRUE(refused(plan));
  plan.steps = {KernelStep{"f", {graph::fixed(1), 0}, {}}};
  EXPECT_TRUE(refused(plan));
  plan.steps = {KernelStep{"f", {graph::fixed(1), 1}, {BufferArg{0}}}};
  EXPECT_TRUE(refused(plan));
  BufferSpec prepared;
  prepared.kind = BufferKind::kPrepared;
  prepared.weight = 0;  // an activation
  plan.buffers = {prepared};
  EXPECT_TRUE(refused(plan));
  plan = {};
  plan.version = 99;
  EXPECT_TRUE(refused(plan));
}

TEST(LowerTest, CollectivesAreUnsupported) {
  test::RegionBuilder b(DType::kBF16);
  const auto x = b.input({graph::tokens(), graph::fixed(64)});
  const auto y = b.op(OpKind::kAllReduce, {x}, {graph::tokens(), graph::fixed(64)}, DType::kBF16);
  const Graph graph = b.finish({y});
  const auto lowered = lower(graph, test::options_for(graph, test::bindings_of(8)));
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace fusefarm::codegen
