#include "cli/graph_command.h"

#include <filesystem>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"

namespace fusefarm::cli {
namespace {

struct CommandRun {
  int exit_code = -1;
  std::string out, err;
};

// The command in this process, with its streams captured.
CommandRun run(const std::string& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  std::streambuf* const stdout_before = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const stderr_before = std::cerr.rdbuf(err.rdbuf());
  CommandRun result;
  CLI::App app("test");
  add_graph_command(app, result.exit_code);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    result.exit_code = kExitUsage;
    err << error.what();
  }
  std::cout.rdbuf(stdout_before);
  std::cerr.rdbuf(stderr_before);
  result.out = out.str();
  result.err = err.str();
  return result;
}

std::string model(const std::string& name) {
  return std::string(FUSEFARM_SOURCE_DIR) + "/configs/models/" + name + ".json";
}

nlohmann::json import(const std::string& arguments) {
  const CommandRun done = run("graph import " + arguments + " -o json");
  EXPECT_EQ(done.exit_code, kExitDone) << done.err;
  return nlohmann::json::parse(done.out);
}

TEST(GraphCommandTest, GlmOnEightRanksIsReportedAsServed) {
  const auto report = import(model("glm-4.7") + " --tensor 8 --workload decode:32:4096");
  EXPECT_NEAR(report["parameters"].get<double>(), 352.8e9, 352.8e6);
  EXPECT_NEAR(report["parameters_with_mtp"].get<double>(), 356.8e9, 356.8e6);
  EXPECT_EQ(report["collectives_per_layer"], 2);
  EXPECT_EQ(report["rank"]["qkv_columns"], 1792);
  EXPECT_EQ(report["rank"]["query_heads"], 12);
  EXPECT_EQ(report["rank"]["kv_heads"], 1);
  EXPECT_EQ(report["rank"]["kv_replicated"], false);
  ASSERT_EQ(report["layers"].size(), 92U);
  EXPECT_EQ(report["layers"][2]["kind"], "dense");
  EXPECT_EQ(report["layers"][3]["kind"], "moe");
  std::vector<nlohmann::json> experts;
  bool shared = false;
  for (const auto& node : report["layers"][91]["nodes"]) {
    if (node["op"] == "expert_linear") {
      experts.push_back(node["weight_shape"]);
    }
    shared = shared || node["weight_shape"] == nlohmann::json({384, 5120});
    if (node["name"] == "layers.91.self_attn.qkv_proj") {
      EXPECT_EQ(node["shape_in"], nlohmann::json({32, 5120}));
      EXPECT_EQ(node["shape_out"], nlohmann::json({32, 1792}));
      EXPECT_DOUBLE_EQ(node["flops"].get<double>(), 32.0 * 1792 * (2 * 5120 + 1));
    }
  }
  EXPECT_TRUE(shared);
  EXPECT_EQ(experts, (std::vector<nlohmann::json>{{160, 384, 5120}, {160, 5120, 192}}));
}

TEST(GraphCommandTest, ReplicatedKvHeadsAreSaid) {
  const auto report = import(model("llada2-flash") + " --tensor 8");
  EXPECT_EQ(report["rank"]["qkv_columns"], 768);
  EXPECT_EQ(report["rank"]["kv_replicated"], true);
  EXPECT_NE(run("graph import " + model("llada2-flash") + " --tensor 8").out.find("replicated"),
            std::string::npos);
}

TEST(GraphCommandTest, UserErrorsAreCodeTwoWithFileKeyAndRemedy) {
  const CommandRun refused = run("graph import " + model("qwen3-30b-a3b"));
  EXPECT_EQ(refused.exit_code, kExitUsage);
  EXPECT_TRUE(refused.out.empty());
  for (const char* word : {"qwen3-30b-a3b.json", "model_type", "qwen3_moe", "llada2_moe"}) {
    EXPECT_NE(refused.err.find(word), std::string::npos) << refused.err;
  }
  EXPECT_EQ(run("graph import /no/such/file.json").exit_code, kExitUsage);
  EXPECT_EQ(run("graph import " + model("tiny-dense") + " --tensor 3").exit_code, kExitUsage);
  EXPECT_EQ(run("graph import " + model("tiny-dense") + " --layers 9").exit_code, kExitUsage);
  EXPECT_EQ(run("graph import " + model("tiny-dense") + " --dtype fp8").exit_code, kExitUsage);
  EXPECT_EQ(run("graph import " + model("tiny-dense") + " -o xml").exit_code, kExitUsage);
  EXPECT_EQ(run("graph").exit_code, kExitUsage);
}

TEST(GraphCommandTest, ASavedGraphIsShownLikeItsConfig) {
  const std::filesystem::path saved =
      std::filesystem::path(testing::TempDir()) / "graph_command_test.json";
  ASSERT_EQ(run("graph import " + model("tiny-moe") + " --save " + saved.string()).exit_code,
            kExitDone);
  const CommandRun from_config = run("graph show " + model("tiny-moe") + " -o wide");
  const CommandRun from_graph = run("graph show " + saved.string() + " -o wide");
  EXPECT_EQ(from_graph.exit_code, kExitDone) << from_graph.err;
  EXPECT_EQ(from_config.out, from_graph.out);
  std::filesystem::remove(saved);
}

TEST(GraphCommandTest, RegionsAreClassesWithTheBytesTheySave) {
  const CommandRun done = run("graph regions " + model("qwen3-0.6b") +
                              " --layers 4 --workload decode:8:64 -o json --nodes 2");
  ASSERT_EQ(done.exit_code, kExitDone) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  bool found = false;
  for (const auto& region : report["regions"]) {
    EXPECT_GE(region["bytes_saved"].get<std::int64_t>(), 0);
    if (region["ops"] != "linear+silu_mul") {
      continue;
    }
    found = true;
    EXPECT_EQ(region["occurrences"], 4);
    EXPECT_EQ(region["bytes_saved"], 2 * 8 * 6144 * 2);
  }
  EXPECT_TRUE(found);
}

TEST(GraphCommandTest, DotIsAGraphvizGraph) {
  const CommandRun done = run("graph dot " + model("tiny-dense"));
  EXPECT_EQ(done.exit_code, kExitDone);
  EXPECT_TRUE(done.out.starts_with("digraph"));
}

}  // namespace
}  // namespace fusefarm::cli
