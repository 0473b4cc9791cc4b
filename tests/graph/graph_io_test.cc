#include "graph/graph_io.h"

#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graph/region.h"
#include "tests/graph/sample_graphs.h"

namespace fusefarm::graph {
namespace {

using nlohmann::json;

Graph contracted_sample() {
  const Graph graph = model_of("tiny-moe", {.tensor_parallel = 2});
  return contract(graph, nodes_named(graph, {"layers.1.attention_residual",
                                             "layers.1.post_attention_layernorm"}))
      .take();
}

TEST(GraphIoTest, EveryGraphIsReadBackAsItWasWritten) {
  for (const Graph& graph :
       {model_of("tiny-dense"), model_of("tiny-moe"), contracted_sample(), random_graph(3, 20)}) {
    const std::string text = to_json(graph);
    const auto back = graph_from_json(text);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(to_json(*back), text);
    EXPECT_EQ(region_signature(*back), region_signature(graph));
    EXPECT_EQ(back->next_id, graph.next_id);
  }
}

void expect_refused(const std::function<void(json&)>& change, const std::string& word) {
  json graph = json::parse(to_json(contracted_sample()));
  change(graph);
  const auto read = graph_from_json(graph.dump());
  ASSERT_FALSE(read.ok()) << "accepted, expected '" << word << "'";
  EXPECT_NE(read.error().message.find(word), std::string::npos) << read.error().message;
}

json& first_node(json& graph, const std::string& op) {
  for (json& node : graph["nodes"]) {
    if (node["op"] == op) {
      return node;
    }
  }
  return graph["nodes"].front();
}

TEST(GraphIoTest, DamageIsRefusedWithAReason) {
  expect_refused([](json& g) { g["format"] = "other"; }, "format");
  expect_refused([](json& g) { g["extra"] = 1; }, "unknown key 'extra'");
  expect_refused([](json& g) { g.erase("nodes"); }, "'nodes' is missing");
  expect_refused([](json& g) { g["next_id"] = 3; }, "next_id");
  expect_refused([](json& g) { g["inputs"].push_back(99999); }, "does not exist");
  expect_refused([](json& g) { g["inputs"].push_back(g["inputs"][0]); }, "twice");
  expect_refused([](json& g) { g["tensors"].push_back(g["tensors"][0]); }, "twice");
  expect_refused([](json& g) { g["nodes"].push_back(g["nodes"][0]); }, "twice");
  expect_refused([](json& g) { first_node(g, "add")["inputs"][0] = 99999; }, "reads tensor");
  expect_refused([](json& g) { first_node(g, "add")["op"] = "divide"; }, "not an op");
  expect_refused([](json& g) { first_node(g, "rms_norm")["attrs"].erase("eps"); }, "'eps'");
  expect_refused([](json& g) { first_node(g, "rms_norm")["attrs"]["eps"] = -1.0; }, "'eps'");
  expect_refused([](json& g) { first_node(g, "rms_norm")["attrs"]["rows"] = 1; }, "'rows'");
  expect_refused([](json& g) { first_node(g, "add")["inputs"].erase(1); }, "1 inputs");
  expect_refused([](json& g) { g["tensors"][0]["shape"] = json::array({"2*Q"}); }, "not a dim");
  expect_refused([](json& g) { g["tensors"][0]["shape"] = json::array({"1*T"}); }, "not a dim");
  expect_refused([](json& g) { g["tensors"][0]["shape"] = json::array({0}); }, "not a whole");
  expect_refused([](json& g) { g["tensors"][0]["id"] = -1; }, "not a whole");
  expect_refused([](json& g) { g["tensors"][0]["id"] = 1ULL << 63; }, "not a whole");
  expect_refused([](json& g) { g["tensors"][0]["dtype"] = "fp8"; }, "dtype");
  expect_refused([](json& g) { first_node(g, "region").erase("body"); }, "body");
  expect_refused([](json& g) { first_node(g, "kv_write").erase("aliases"); }, "caches");
  expect_refused([](json& g) { first_node(g, "kv_write")["aliases"][0][1] = 7; }, "not a whole");
}

TEST(GraphIoTest, NodesOutOfOrderAreACycleOrSaidToBeOutOfOrder) {
  expect_refused([](json& g) { std::swap(g["nodes"][0], g["nodes"][1]); }, "not in order");
  expect_refused(
      [](json& g) {
        json& add = first_node(g, "add");
        add["inputs"][0] = add["outputs"][0];
      },
      "cycle");
}

TEST(GraphIoTest, ReadingACacheAfterItWasOverwrittenIsRefused) {
  expect_refused(
      [](json& g) {
        const json before = first_node(g, "kv_write")["inputs"][3];
        first_node(g, "attention")["inputs"][1] = before;
      },
      "overwrote");
}

TEST(GraphIoTest, GraphvizShowsRegionsCollectivesAndSideEffects) {
  const std::string dot = to_dot(contracted_sample());
  EXPECT_NE(dot.find("subgraph cluster_"), std::string::npos);
  EXPECT_NE(dot.find("hexagon"), std::string::npos);
  EXPECT_NE(dot.find("color=red"), std::string::npos);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
  Graph named = random_graph(1, 3);
  Graph quoted;
  for (const auto& [id, tensor] : named.tensors()) {
    Tensor copy = tensor;
    copy.name = "a\"b\\";
    quoted.add_tensor(std::move(copy));
  }
  quoted.inputs = named.inputs;
  EXPECT_NE(to_dot(quoted).find("a\\\"b\\\\"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm::graph
