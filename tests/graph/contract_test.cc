#include <gtest/gtest.h>

#include "base/random.h"
#include "graph/graph_io.h"
#include "graph/memory_layout.h"
#include "graph/region.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

const Node& region_node(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op == OpKind::kRegion) {
      return node;
    }
  }
  return graph.nodes().front();
}

std::vector<NodeId> rope_and_write(const Graph& graph, const std::string& layer) {
  const std::string prefix = layer + "self_attn.";
  return nodes_named(graph, {prefix + "qkv_split", prefix + "q_norm", prefix + "k_norm",
                             prefix + "q_rope", prefix + "k_rope", prefix + "kv_write"});
}

TEST(ContractTest, DissolvingRestoresTheGraphWithItsIdsAndNames) {
  const Graph graph = model_of("tiny-dense");
  const auto contracted = contract(graph, rope_and_write(graph, "layers.1."));
  ASSERT_TRUE(contracted.ok()) << contracted.error().message;
  EXPECT_EQ(contracted->version, graph.version + 1);
  EXPECT_TRUE(validate(*contracted).ok()) << validate(*contracted).error().message;
  const Node& region = region_node(*contracted);
  EXPECT_EQ(region.layer, 1);
  const auto dissolved = dissolve(*contracted, region.id);
  ASSERT_TRUE(dissolved.ok());
  EXPECT_EQ(dissolved->version, graph.version + 2);
  EXPECT_EQ(region_signature(*dissolved), region_signature(graph));
  ASSERT_EQ(dissolved->tensors().size(), graph.tensors().size());
  for (const auto& [id, tensor] : graph.tensors()) {
    EXPECT_EQ(dissolved->tensor(id).name, tensor.name);
  }
  for (const Node& node : graph.nodes()) {
    EXPECT_EQ(dissolved->node(node.id).name, node.name);
    EXPECT_EQ(dissolved->node(node.id).inputs, node.inputs);
  }
  EXPECT_FALSE(dissolve(*contracted, contracted->nodes().front().id).ok());
  EXPECT_FALSE(dissolve(*contracted, 99999).ok());
}

TEST(ContractTest, ExpandingKeepsTheVersionAndUndoesEverything) {
  const Graph graph = model_of("tiny-moe");
  Graph contracted = graph;
  for (const char* layer : {"layers.0.", "layers.1.", "layers.2."}) {
    contracted = contract(contracted, rope_and_write(contracted, layer)).take();
  }
  const Graph expanded = expand(contracted);
  EXPECT_EQ(expanded.version, 3);
  EXPECT_EQ(region_signature(expanded), region_signature(graph));
  EXPECT_EQ(expanded.nodes().size(), graph.nodes().size());
}

TEST(ContractTest, OccurrencesOfARepeatedLayerGetEqualBodies) {
  const Graph graph = model_of("tiny-moe");
  const Graph one = contract(graph, rope_and_write(graph, "layers.1.")).take();
  const Graph two = contract(graph, rope_and_write(graph, "layers.2.")).take();
  EXPECT_EQ(to_json(*region_node(one).body), to_json(*region_node(two).body));
  EXPECT_EQ(region_node(one).attrs, region_node(two).attrs);
  EXPECT_EQ(region_node(one).attrs.text("signature"),
            region_signature(*region_node(one).body).hex());
}

TEST(ContractTest, ARegionAroundARegionHasAFullyExpandedBody) {
  const Graph graph = model_of("tiny-dense");
  const Graph inner = contract(graph, rope_and_write(graph, "layers.0.")).take();
  std::vector<NodeId> wider{region_node(inner).id,
                            node_named(inner, "layers.0.self_attn.qkv_proj")};
  const Graph outer = contract(inner, wider).take();
  const Node& region = region_node(outer);
  for (const Node& node : region.body->nodes()) {
    EXPECT_NE(node.op, OpKind::kRegion);
  }
  EXPECT_EQ(region.body->nodes().size(), 7U);
  EXPECT_TRUE(validate(outer).ok()) << validate(outer).error().message;
  EXPECT_EQ(region_signature(expand(outer)), region_signature(graph));
  // The inverse of one contraction: the inner region is back.
  const Graph back = dissolve(outer, region.id).take();
  EXPECT_EQ(region_node(back).name, region_node(inner).name);
  EXPECT_EQ(back.nodes().size(), inner.nodes().size());
  EXPECT_EQ(region_signature(expand(back)), region_signature(graph));
}

TEST(ContractTest, ContractedExtractionKeepsInnerRegionsOnTheCanonicalBoundary) {
  const Graph graph = model_of("tiny-dense");
  const Graph inner = contract(graph, rope_and_write(graph, "layers.0.")).take();
  const std::vector<NodeId> wider{region_node(inner).id,
                                  node_named(inner, "layers.0.self_attn.qkv_proj")};
  const Canonical canonical = canonicalise(*extract_region(inner, wider));
  const auto kept = extract_contracted(inner, wider, canonical);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept->nodes().size(), 2U);
  EXPECT_EQ(kept->inputs, canonical.graph.inputs);
  EXPECT_EQ(kept->outputs, canonical.graph.outputs);
  for (const TensorId id : kept->inputs) {
    EXPECT_EQ(kept->tensor(id).shape, canonical.graph.tensor(id).shape);
  }
  EXPECT_TRUE(validate(*kept).ok()) << validate(*kept).error().message;
  EXPECT_EQ(region_signature(expand(*kept)), canonical.signature);
  EXPECT_FALSE(extract_contracted(graph, rope_and_write(graph, "layers.1."), canonical).ok());
}

TEST(ContractTest, StateIsFollowedThroughARegion) {
  const Graph graph = model_of("tiny-dense");
  const Graph contracted = contract(graph, rope_and_write(graph, "layers.1.")).take();
  ASSERT_EQ(region_node(contracted).aliases.size(), 2U);
  for (const TensorId id : graph.outputs) {
    EXPECT_EQ(storage_of(contracted, id), storage_of(graph, id));
  }
  const WeightLayout before = weight_layout(graph, Bindings{});
  const WeightLayout after = weight_layout(contracted, Bindings{});
  EXPECT_EQ(before.offset, after.offset);
  EXPECT_EQ(before.bytes, after.bytes);
}

TEST(ContractTest, AnyRegionOfAnyGraphMakesTheRoundTrip) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Graph graph = random_graph(seed, 14);
    const Digest whole = region_signature(graph);
    Random random = Random::keyed(seed, "round-trip");
    Graph current = graph;
    for (int step = 0; step < 3; ++step) {
      const std::vector<NodeSet> sets = enumerate_regions(current, {});
      if (sets.empty()) {
        break;
      }
      const NodeSet& set = sets[random.below(sets.size())];
      auto next = contract(current, set.nodes);
      ASSERT_TRUE(next.ok()) << next.error().message;
      const auto valid = validate(*next);
      ASSERT_TRUE(valid.ok()) << valid.error().message;
      const NodeId made = next->next_id - 1;
      ASSERT_EQ(region_signature(expand(*next)), whole) << "seed " << seed;
      ASSERT_EQ(region_signature(expand(*dissolve(*next, made))), whole) << "seed " << seed;
      current = next.take();
    }
  }
}

TEST(ContractTest, ContractionOfAnIllegalSetChangesNothingAndSaysWhy) {
  const Graph graph = model_of("tiny-dense", {.layers = 1});
  const auto bad =
      contract(graph, nodes_named(graph, {"layers.0.attention_residual", "layers.0.mlp_residual"}));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace fusefarm::graph
