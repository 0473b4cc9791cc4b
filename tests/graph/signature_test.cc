#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "graph/graph_builder.h"
#include "graph/graph_io.h"
#include "graph/region.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

TEST(SignatureTest, IsInvariantToIdsNamesOrderAndOperandsOfAdditions) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Graph graph = random_graph(seed, 4 + static_cast<int>(seed % 20));
    const Canonical canonical = canonicalise(graph);
    const Canonical other = canonicalise(shuffled(graph, seed));
    ASSERT_EQ(canonical.signature, other.signature) << "seed " << seed;
    ASSERT_EQ(to_json(canonical.graph), to_json(other.graph)) << "seed " << seed;
  }
}

TEST(SignatureTest, HoldsForLayersOfRealModels) {
  for (const char* name : {"tiny-dense", "tiny-moe", "tiny-diffusion-moe"}) {
    const Graph graph = model_of(name, {.tensor_parallel = 2});
    const Digest signature = region_signature(graph);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      EXPECT_EQ(region_signature(shuffled(graph, seed)), signature) << name;
    }
  }
}

TEST(SignatureTest, CanonicalisingACanonicalGraphChangesNothing) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Canonical once = canonicalise(random_graph(seed, 14));
    const Canonical twice = canonicalise(once.graph);
    EXPECT_EQ(to_json(once.graph), to_json(twice.graph)) << "seed " << seed;
    for (std::size_t i = 0; i < twice.tensor_of.size(); ++i) {
      if (twice.tensor_of[i] != static_cast<TensorId>(i)) {
        // Only a symmetry of the graph may exchange two tensors.
        EXPECT_EQ(once.graph.tensor(twice.tensor_of[i]).shape,
                  once.graph.tensor(static_cast<TensorId>(i)).shape);
      }
    }
  }
}

TEST(SignatureTest, TensorAndNodeMapsLeadBackToTheSource) {
  const Graph graph = model_of("tiny-moe");
  const Canonical canonical = canonicalise(graph);
  ASSERT_EQ(canonical.tensor_of.size(), canonical.graph.tensors().size());
  for (const auto& [id, tensor] : canonical.graph.tensors()) {
    const Tensor& source = graph.tensor(canonical.tensor_of[static_cast<std::size_t>(id)]);
    EXPECT_EQ(source.shape, tensor.shape);
    EXPECT_EQ(source.init_scale, tensor.init_scale);
    EXPECT_TRUE(tensor.name.empty());
  }
  for (std::size_t i = 0; i < canonical.node_of.size(); ++i) {
    EXPECT_EQ(graph.node(canonical.node_of[i]).op, canonical.graph.nodes()[i].op);
  }
  EXPECT_TRUE(std::ranges::is_sorted(canonical.graph.inputs));
}

// k equal branches of the same depth summed up: the worst case of a search over ties.
Graph symmetric_graph(int branches, int depth) {
  Graph graph;
  GraphBuilder builder(graph, DType::kBF16);
  const TensorId x = builder.input("x", DType::kBF16, {tokens(), fixed(8)});
  std::vector<TensorId> ends;
  for (int b = 0; b < branches; ++b) {
    TensorId at = x;
    for (int d = 0; d < depth; ++d) {
      at = builder.rms_norm("n", at, 1e-6);
    }
    ends.push_back(at);
  }
  graph.outputs = ends;
  return graph;
}

TEST(SignatureTest, ManyEqualBranchesDoNotExplode) {
  const Graph graph = symmetric_graph(12, 3);
  const Digest signature = region_signature(graph);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(region_signature(shuffled(graph, seed)), signature);
  }
  EXPECT_NE(region_signature(symmetric_graph(11, 3)), signature);
}

// Colour refinement alone can't tell one ring of six from two rings of three; the search can.
Graph rings(const std::vector<int>& sizes) {
  Graph graph;
  GraphBuilder builder(graph, DType::kBF16);
  std::vector<TensorId> sums;
  for (const int size : sizes) {
    std::vector<TensorId> members;
    members.reserve(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) {
      members.push_back(builder.input("x", DType::kBF16, {tokens(), fixed(8)}));
    }
    for (int i = 0; i < size; ++i) {
      sums.push_back(builder.add("s", members[static_cast<std::size_t>(i)],
                                 members[static_cast<std::size_t>((i + 1) % size)]));
    }
  }
  graph.outputs = sums;
  return graph;
}

TEST(SignatureTest, TellsApartWhatRefinementAloneCannot) {
  EXPECT_NE(region_signature(rings({6})), region_signature(rings({3, 3})));
  EXPECT_EQ(region_signature(rings({3, 4})), region_signature(rings({4, 3})));
}

TEST(SignatureTest, WhatIsComputedChangesIt) {
  struct Spec {
    double eps = 1e-6;
    DType dtype = DType::kBF16;
    Dim rows = tokens();
    std::int64_t columns = 16;
    bool expose_middle = false, swap_norm_input = false;
    TensorKind kind = TensorKind::kInput;
  };

  const auto signature = [](const Spec& spec) {
    Graph graph;
    GraphBuilder builder(graph, spec.dtype);
    const auto input = [&](const char* name) {
      const TensorId id =
          graph.add_tensor({kNone, name, spec.kind, spec.dtype, {spec.rows, fixed(spec.columns)}});
      graph.inputs.push_back(id);
      return id;
    };
    const TensorId a = input("a");
    const TensorId b = input("b");
    const TensorId sum = builder.add("sum", a, b);
    const TensorId normed = builder.rms_norm("norm", spec.swap_norm_input ? a : sum, spec.eps);
    graph.outputs = {normed};
    if (spec.expose_middle || spec.swap_norm_input) {
      graph.outputs.push_back(sum);
    }
    return region_signature(graph);
  };
  std::set<Digest> seen;
  const auto expect_new = [&](const std::function<void(Spec&)>& change) {
    Spec spec;
    change(spec);
    EXPECT_TRUE(seen.insert(signature(spec)).second);
  };
  expect_new([](Spec&) {});
  expect_new([](Spec& s) { s.eps = 1e-5; });
  expect_new([](Spec& s) { s.dtype = DType::kF32; });
  expect_new([](Spec& s) { s.rows = tokens(8); });
  expect_new([](Spec& s) { s.rows = Dim{Symbol::kLogitRows, 1}; });
  expect_new([](Spec& s) { s.rows = fixed(1); });
  expect_new([](Spec& s) { s.columns = 32; });
  expect_new([](Spec& s) { s.expose_middle = true; });
  expect_new([](Spec& s) { s.swap_norm_input = true; });
  expect_new([](Spec& s) { s.kind = TensorKind::kActivation; });
}

TEST(SignatureTest, RepeatedLayersShareOneAndDifferentLayersDoNot) {
  const Graph graph = model_of("tiny-moe");
  const auto mlp = [&](const std::string& layer, const std::string& part) {
    const auto region = extract_region(
        graph, nodes_named(graph, {layer + part + "gate_up_proj", layer + part + "silu_mul"}));
    return region_signature(*region);
  };
  EXPECT_EQ(mlp("layers.1.", "mlp.experts."), mlp("layers.2.", "mlp.experts."));
  EXPECT_NE(mlp("layers.0.", "mlp."), mlp("layers.1.", "mlp.shared_experts."));
}

}  // namespace
}  // namespace fusefarm::graph
