#include "graph/region.h"

#include <algorithm>
#include <bit>
#include <set>

#include <gtest/gtest.h>

#include "graph/graph_io.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

// By definition, with a full reachability matrix: slow, and independent of what is tested.
class BruteForce {
 public:
  explicit BruteForce(const Graph& graph) : count_(graph.nodes().size()) {
    neighbours_.resize(count_);
    reach_.resize(count_);
    for (std::size_t at = count_; at-- > 0;) {
      for (const TensorId output : graph.nodes()[at].outputs) {
        for (const NodeId reader : graph.consumers(output)) {
          const std::size_t to = graph.position(reader);
          neighbours_[at] |= std::uint32_t{1} << to;
          neighbours_[to] |= std::uint32_t{1} << at;
          reach_[at] |= (std::uint32_t{1} << to) | reach_[to];
        }
      }
    }
  }

  std::set<std::uint32_t> regions(int nodes_max) const {
    std::set<std::uint32_t> found;
    for (std::uint32_t set = 1; set < (std::uint32_t{1} << count_); ++set) {
      const int size = std::popcount(set);
      if (size >= 2 && size <= nodes_max && connected(set) && convex(set)) {
        found.insert(set);
      }
    }
    return found;
  }

  bool convex(std::uint32_t set) const {
    for (std::size_t w = 0; w < count_; ++w) {
      if ((set >> w & 1U) != 0) {
        continue;
      }
      bool after = false;
      for (std::size_t v = 0; v < count_; ++v) {
        after = after || ((set >> v & 1U) != 0 && (reach_[v] >> w & 1U) != 0);
      }
      if (after && (reach_[w] & set) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  bool connected(std::uint32_t set) const {
    std::uint32_t seen = set & (~set + 1);
    while (true) {
      std::uint32_t wider = seen;
      for (std::size_t v = 0; v < count_; ++v) {
        if ((seen >> v & 1U) != 0) {
          wider |= neighbours_[v] & set;
        }
      }
      if (wider == seen) {
        return seen == set;
      }
      seen = wider;
    }
  }

  std::size_t count_;
  std::vector<std::uint32_t> neighbours_, reach_;
};

std::set<std::uint32_t> as_bits(const Graph& graph, const std::vector<NodeSet>& sets) {
  std::set<std::uint32_t> bits;
  for (const NodeSet& set : sets) {
    std::uint32_t mask = 0;
    for (const NodeId id : set.nodes) {
      mask |= std::uint32_t{1} << graph.position(id);
    }
    EXPECT_TRUE(bits.insert(mask).second) << "listed twice";
  }
  return bits;
}

TEST(RegionTest, EnumerationFindsExactlyTheConnectedConvexSets) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = random_graph(seed, 6 + static_cast<int>(seed % 8));
    for (const int nodes_max : {2, 4, 6}) {
      EnumerateOptions options;
      options.nodes_max = nodes_max;
      EXPECT_EQ(as_bits(graph, enumerate_regions(graph, options)),
                BruteForce(graph).regions(nodes_max))
          << "seed " << seed << " nodes_max " << nodes_max;
    }
  }
}

TEST(RegionTest, ARepeatedLayerGivesTheSetsOfAFullEnumeration) {
  // Layers look alike, so most anchors reuse a stretch; a predicate that looks at ids gives every
  // node another descriptor class only where it says so, and must be obeyed.
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  EnumerateOptions options;
  options.nodes_max = 3;
  const std::size_t one = enumerate_regions(graph, options).size();
  ModelConfig deep = config_of("tiny-dense");
  std::vector<std::size_t> sizes;
  for (const std::int64_t layers : {2, 3, 4, 12}) {
    deep.layers = layers;
    sizes.push_back(enumerate_regions(*build_model_graph(deep, {}), options).size());
  }
  const std::size_t per_layer = sizes[1] - sizes[0];
  EXPECT_GT(per_layer, 0U);
  EXPECT_EQ(sizes[2], sizes[0] + 2 * per_layer);
  EXPECT_EQ(sizes[3], sizes[0] + 10 * per_layer);
  EXPECT_LT(one, sizes[0]);
}

TEST(RegionTest, OnlyAllowedNodesBecomeMembers) {
  const Graph graph = model_of("tiny-moe", {.tensor_parallel = 2});
  EnumerateOptions options;
  options.may_contain = [](const Node& node) { return !is_collective(node.op); };
  for (const NodeSet& set : enumerate_regions(graph, options)) {
    for (const NodeId id : set.nodes) {
      EXPECT_FALSE(is_collective(graph.node(id).op));
    }
  }
  options.regions_max = 7;
  EXPECT_EQ(enumerate_regions(graph, options).size(), 7U);
}

TEST(RegionTest, ViewsDoNotCountAndAreNeverIdle) {
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  EnumerateOptions options;
  options.nodes_max = 5;
  const std::vector<NodeSet> sets = enumerate_regions(graph, options);
  const std::string layer = "layers.0.self_attn.";
  std::vector<NodeId> wanted =
      nodes_named(graph, {layer + "qkv_split", layer + "q_norm", layer + "k_norm", layer + "q_rope",
                          layer + "k_rope", layer + "kv_write"});
  EXPECT_TRUE(std::ranges::any_of(sets, [&](const NodeSet& set) { return set.nodes == wanted; }));
  const NodeId split = node_named(graph, layer + "qkv_split");
  const NodeId projection = node_named(graph, layer + "qkv_proj");
  const NodeId norm = node_named(graph, "layers.0.input_layernorm");
  EXPECT_TRUE(std::ranges::none_of(sets, [&](const NodeSet& set) {
    return set.nodes == std::vector<NodeId>{norm, projection, split};
  }));
  // v would have to be copied out; with the projection inside it is made there.
  const std::vector<NodeId> norms =
      nodes_named(graph, {layer + "qkv_split", layer + "q_norm", layer + "k_norm"});
  const auto found = [&](const std::vector<NodeId>& nodes) {
    return std::ranges::any_of(sets, [&](const NodeSet& set) { return set.nodes == nodes; });
  };
  EXPECT_FALSE(found(norms));
  EXPECT_TRUE(found({projection, norms[0], norms[1], norms[2]}));
}

TEST(RegionTest, ASetAroundAPathThatLeavesIsNotConvex) {
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  // The residual goes straight to the second add, the MLP goes around.
  EXPECT_FALSE(is_convex(
      graph, nodes_named(graph, {"layers.0.attention_residual", "layers.0.mlp_residual"})));
  const auto region = extract_region(
      graph, nodes_named(graph, {"layers.0.attention_residual", "layers.0.mlp_residual"}));
  ASSERT_FALSE(region.ok());
  EXPECT_NE(region.error().message.find("comes back"), std::string::npos);
  EXPECT_FALSE(extract_region(graph, {}).ok());
  EXPECT_FALSE(extract_region(graph, {9999}).ok());
  EXPECT_FALSE(extract_region(graph, nodes_named(graph, {"layers.0.self_attn.q_norm",
                                                         "layers.0.mlp.silu_mul"}))
                   .ok());
}

TEST(RegionTest, ExtractionOrdersItsBoundaryAsDeclared) {
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  const std::string layer = "layers.0.self_attn.";
  const auto region = extract_region(
      graph, nodes_named(graph, {layer + "qkv_split", layer + "q_norm", layer + "k_norm",
                                 layer + "q_rope", layer + "k_rope", layer + "kv_write"}));
  ASSERT_TRUE(region.ok()) << region.error().message;
  std::vector<TensorKind> kinds;
  for (const TensorId id : region->inputs) {
    kinds.push_back(region->tensor(id).kind);
  }
  EXPECT_EQ(kinds,
            (std::vector<TensorKind>{TensorKind::kActivation, TensorKind::kInput,
                                     TensorKind::kInput, TensorKind::kState, TensorKind::kState,
                                     TensorKind::kWeight, TensorKind::kWeight}));
  ASSERT_EQ(region->outputs.size(), 3U);
  EXPECT_EQ(region->tensor(region->outputs[0]).name, "layers.0.self_attn.q_rope.out");
  EXPECT_EQ(region->tensor(region->outputs[1]).kind, TensorKind::kState);
  EXPECT_TRUE(validate(*region).ok());
}

TEST(RegionTest, ATiedTableIsOneInput) {
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  std::vector<NodeId> all;
  for (const Node& node : graph.nodes()) {
    all.push_back(node.id);
  }
  const auto whole = extract_region(graph, all);
  ASSERT_TRUE(whole.ok());
  const std::set<TensorId> once(whole->inputs.begin(), whole->inputs.end());
  EXPECT_EQ(once.size(), whole->inputs.size());
  const TensorId table = graph.node(node_named(graph, "lm_head")).inputs[1];
  EXPECT_TRUE(once.contains(table));
}

TEST(RegionTest, ClassesAreTheSignaturesOfTheirSets) {
  const Graph graph = model_of("tiny-moe");
  EnumerateOptions options;
  options.nodes_max = 3;
  const std::vector<NodeSet> sets = enumerate_regions(graph, options);
  std::size_t total = 0;
  std::set<Digest> signatures;
  for (const RegionClass& one : classify_regions(graph, sets)) {
    EXPECT_TRUE(signatures.insert(one.signature).second);
    total += one.occurrences.size();
    for (const std::size_t i : one.occurrences) {
      EXPECT_EQ(region_signature(*extract_region(graph, sets[i].nodes)), one.signature);
    }
  }
  EXPECT_EQ(total, sets.size());
}

}  // namespace
}  // namespace fusefarm::graph
