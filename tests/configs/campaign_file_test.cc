#include "configs/campaign_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fusefarm::configs {
namespace {

const char* const kMinimal =
    "campaign: c\n"
    "model: {config: m.json}\n"
    "workloads:\n"
    "  - {name: d, phase: decode, batch: 8, context: 256}\n";

CampaignSpec parsed(const std::string& text) {
  const Result<CampaignSpec> spec = parse_campaign(text, "dir/c.yaml");
  EXPECT_TRUE(spec.ok()) << (spec.ok() ? "" : spec.error().message);
  return spec.value_or(CampaignSpec{});
}

Error error_of(const std::string& text) {
  const Result<CampaignSpec> spec = parse_campaign(text, "c.yaml");
  EXPECT_FALSE(spec.ok()) << text;
  return spec.ok() ? Error{ErrorCode::kInternal, "accepted"} : spec.error();
}

std::string minimal_with(const std::string& line) { return std::string(kMinimal) + line + "\n"; }

std::string workload(const std::string& fields) {
  return "campaign: c\nmodel: {config: m.json}\nworkloads:\n  - {name: w, " + fields + "}\n";
}

TEST(CampaignFileTest, MissingKeysGetTheirDefaults) {
  const CampaignSpec spec = parsed(kMinimal);
  EXPECT_EQ(spec.name, "c");
  EXPECT_EQ(spec.model_config, "dir/m.json");
  EXPECT_EQ(spec.layers, 0);
  ASSERT_EQ(spec.workloads.size(), 1U);
  EXPECT_EQ(spec.workloads[0], (Workload{"d", graph::Phase::kDecode, 8, 256, 8, 1}));
  EXPECT_EQ(spec.tensor_parallel, 1);
  EXPECT_EQ(spec.dtype, graph::DType::kBF16);
  EXPECT_EQ(spec.device, "cpu");
  EXPECT_EQ(spec.threads, 0);
  EXPECT_EQ(spec.search.proposers, std::vector<std::string>{"builtin"});
  EXPECT_EQ(spec.store_path, "history.db");
  EXPECT_EQ(spec.output_folder, "out/c");
  EXPECT_FALSE(spec.sandbox_degraded_ok);
}

TEST(CampaignFileTest, EveryKeyIsTaken) {
  const CampaignSpec spec = parsed(
      "campaign: c\n"
      "model: {config: /abs/m.json, layers: 4}\n"
      "workloads:\n"
      "  - {name: p, phase: prefill, batch: 2, tokens: 64, context: 128, weight: 3}\n"
      "  - {name: d, phase: decode, batch: 8, context: 256, weight: 1}\n"
      "parallel: {tensor: 1}\ndtype: f32\ntarget: {device: cpu, threads: 2}\n"
      "search: {phases: 3, proposers: [noop, builtin], seed: 7, budget: {seconds: 1.5}, rounds: "
      "4,\n"
      "  plans_per_round: 5, region_nodes: 6, regions_per_phase: 9}\n"
      "gate: {min_gain: 0.02, false_accept: 0.01}\nstore: {path: s.db}\noutput: {folder: o}\n"
      "sandbox: degraded-ok\n");
  EXPECT_EQ(spec.model_config, "/abs/m.json");
  EXPECT_EQ(spec.layers, 4);
  EXPECT_EQ(spec.workloads[0], (Workload{"p", graph::Phase::kPrefill, 2, 128, 64, 0.75}));
  EXPECT_EQ(spec.workloads[1].weight, 0.25);
  EXPECT_EQ(spec.dtype, graph::DType::kF32);
  EXPECT_EQ(spec.threads, 2);
  EXPECT_EQ(spec.search.phases, 3);
  EXPECT_EQ(spec.search.proposers, (std::vector<std::string>{"noop", "builtin"}));
  EXPECT_EQ(spec.search.seed, 7U);
  EXPECT_EQ(spec.search.budget_seconds, 1.5);
  EXPECT_EQ(spec.search.rounds_max, 4);
  EXPECT_EQ(spec.search.plans_per_round, 5);
  EXPECT_EQ(spec.search.region_nodes_max, 6);
  EXPECT_EQ(spec.search.regions_per_phase, 9);
  EXPECT_EQ(spec.gate.min_gain, 0.02);
  EXPECT_EQ(spec.gate.false_accept, 0.01);
  EXPECT_EQ(spec.store_path, "s.db");
  EXPECT_EQ(spec.output_folder, "o");
  EXPECT_TRUE(spec.sandbox_degraded_ok);
}

TEST(CampaignFileTest, UnknownKeyIsNamedWithPlaceAndNearestKey) {
  const Error error = error_of(minimal_with("serach: {phases: 2}"));
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message.substr(0, error.message.find(" known")),
            "c.yaml:5:1: unknown key 'serach'; did you mean 'search'?");
}

TEST(CampaignFileTest, UnknownKeyInsideAMapIsNamedWithItsPath) {
  EXPECT_NE(error_of(minimal_with("gate: {min_gian: 0.1}"))
                .message.find("c.yaml:5:8: unknown key 'gate.min_gian'; did you mean 'min_gain'?"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: decode, batch: 1, context: 1, kind: x"))
                .message.find("unknown key 'workloads[0].kind'"),
            std::string::npos);
}

TEST(CampaignFileTest, DuplicateKeyIsAnErrorThatNamesTheFirst) {
  EXPECT_EQ(error_of(minimal_with("campaign: d")).message,
            "c.yaml:5:1: key 'campaign' stands there twice, first in line 1");
  EXPECT_EQ(error_of(minimal_with("gate:\n  min_gain: 0.1\n  min_gain: 0.2")).message,
            "c.yaml:7:3: key 'gate.min_gain' stands there twice, first in line 6");
}

TEST(CampaignFileTest, MissingKeyIsNamedWithItsMap) {
  EXPECT_EQ(error_of("model: {config: m}\nworkloads: [{}]\n").message.substr(0, 43),
            "c.yaml:1:1: key 'campaign' is missing; see ");
  EXPECT_NE(error_of("campaign: c\n").message.find("key 'model' is missing"), std::string::npos);
  EXPECT_NE(error_of("campaign: c\nmodel: {config: m}\n").message.find("'workloads' is missing"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: decode, batch: 8"))
                .message.find("c.yaml:4:5: key 'workloads[0].context' is missing"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: prefill")).message.find("tokens' is missing"),
            std::string::npos);
}

TEST(CampaignFileTest, WholeNumbersAreDecimalWithoutQuotes) {
  for (const char* bad : {"010", "0x10", "1e3", "1.0", "+8", "8 8", "\"8\"", "'8'", "1_000", "~",
                          "", "[8]", "{a: 8}", "true", "99999999999999999999", "0", "-8", "4097"}) {
    const Error error = error_of(workload(std::string("phase: decode, context: 1, batch: ") + bad));
    EXPECT_NE(error.message.find("c.yaml:4:"), std::string::npos) << bad << ": " << error.message;
    EXPECT_NE(error.message.find("workloads[0].batch"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("allowed is a whole number of 1 to 4096"), std::string::npos)
        << error.message;
  }
}

TEST(CampaignFileTest, RealNumbersAreWrittenAsInJson) {
  EXPECT_EQ(parsed(minimal_with("gate: {min_gain: 1e-2}")).gate.min_gain, 0.01);
  EXPECT_EQ(parsed(minimal_with("gate: {min_gain: 1}")).gate.min_gain, 1.0);
  for (const char* bad : {".5", "5.", "00.5", "0x1p-3", ".nan", ".inf", "nan", "inf", "0.1%", "0,1",
                          "\"0.1\"", "", "0", "-0.1", "1.5", "0.0"}) {
    const Error error = error_of(minimal_with(std::string("gate: {min_gain: ") + bad + "}"));
    EXPECT_NE(error.message.find("gate.min_gain"), std::string::npos) << bad << error.message;
    EXPECT_NE(error.message.find("a number above 0.0 and at most 1.0"), std::string::npos)
        << bad << ": " << error.message;
  }
}

TEST(CampaignFileTest, TextsMayBeQuotedAndKeepWhatLooksLikeANumber) {
  EXPECT_EQ(parsed("campaign: \"010\"\nmodel: {config: 'a b.json'}\nworkloads:\n"
                   "  - {name: 8, phase: \"decode\", batch: 1, context: 1}\n")
                .name,
            "010");
}

TEST(CampaignFileTest, NamesThatCanNotBeFileNamesAreRefused) {
  for (const char* bad : {"a/b", "..", "\"\"", "\"a b\"", "[x]", "~", "-a"}) {
    const Error error = error_of(std::string("campaign: ") + bad + "\nmodel: {config: m}\n" +
                                 "workloads: [{name: d, phase: decode, batch: 1, context: 1}]\n");
    EXPECT_NE(error.message.find("c.yaml:1:11: campaign: "), std::string::npos)
        << bad << ": " << error.message;
  }
}

TEST(CampaignFileTest, WorkloadNamesAreUnique) {
  const Error error = error_of(minimal_with("  - {name: d, phase: decode, batch: 1, context: 1}"));
  EXPECT_EQ(error.message, "c.yaml:5:12: workloads[1].name: 'd' names two workloads");
}

TEST(CampaignFileTest, WeightsMustBePositiveAndAreScaled) {
  EXPECT_NE(error_of(workload("phase: decode, batch: 1, context: 1, weight: 0"))
                .message.find("a number above 0"),
            std::string::npos);
  const CampaignSpec spec =
      parsed(minimal_with("  - {name: e, phase: decode, batch: 1, context: 1, weight: 4}"));
  EXPECT_DOUBLE_EQ(spec.workloads[0].weight, 0.2);
  EXPECT_DOUBLE_EQ(spec.workloads[1].weight, 0.8);
}

TEST(CampaignFileTest, EachPhaseHasItsShape) {
  EXPECT_EQ(parsed(workload("phase: prefill, tokens: 64")).workloads[0],
            (Workload{"w", graph::Phase::kPrefill, 1, 64, 64, 1}));
  EXPECT_EQ(parsed(workload("phase: block-diffusion, batch: 2, context: 96")).workloads[0],
            (Workload{"w", graph::Phase::kBlockDiffusion, 2, 96, 64, 1}));
  EXPECT_NE(error_of(workload("phase: decode, batch: 8, context: 9, tokens: 9"))
                .message.find("one token a sequence"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: prefill, batch: 3, tokens: 64"))
                .message.find("not a multiple of batch 3"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: prefill, tokens: 64, context: 63"))
                .message.find("don't hold the step's own 64"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: decode, batch: 4096, context: 1048576"))
                .message.find("KV slots are more than"),
            std::string::npos);
  EXPECT_NE(error_of(workload("phase: train, batch: 1"))
                .message.find("allowed is decode, prefill, block-diffusion"),
            std::string::npos);
}

TEST(CampaignFileTest, BlockDiffusionIsACampaignOfItsOwn) {
  EXPECT_NE(error_of(minimal_with("  - {name: b, phase: block-diffusion, batch: 1, context: 32}"))
                .message.find("does not go together"),
            std::string::npos);
}

TEST(CampaignFileTest, WhatIsUnderstoodButNotDoneIsUnsupported) {
  const auto unsupported = [](const std::string& line, const std::string& part) {
    const Error error = error_of(minimal_with(line));
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << error.message;
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  };
  unsupported("target: {device: cuda}", "c.yaml:5:18: target.device: 'cuda' is not supported");
  unsupported("target: {class: h20}", "target.class");
  unsupported("parallel: {tensor: 8}", "8 ranks are not supported");
  unsupported("search: {proposers: [llm]}", "supported: builtin, noop");
  unsupported("search: {budget: {device_hours: 1}}", "use budget.seconds");
}

TEST(CampaignFileTest, ProposersAreAListWithoutRepetition) {
  EXPECT_NE(error_of(minimal_with("search: {proposers: builtin}")).message.find("a list of some"),
            std::string::npos);
  EXPECT_NE(error_of(minimal_with("search: {proposers: []}")).message.find("a list of some"),
            std::string::npos);
  EXPECT_NE(error_of(minimal_with("search: {proposers: [noop, noop]}")).message.find("twice"),
            std::string::npos);
  EXPECT_NE(error_of(minimal_with("search: {proposers: [bultin]}"))
                .message.find("did you mean 'builtin'?"),
            std::string::npos);
}

TEST(CampaignFileTest, TextThatIsNoMapIsRefusedWithItsPlace) {
  EXPECT_NE(error_of("").message.find("0 documents"), std::string::npos);
  EXPECT_NE(error_of("- a\n").message.find("a list"), std::string::npos);
  EXPECT_NE(error_of("a: 1\n---\nb: 2\n").message.find("2 documents"), std::string::npos);
  EXPECT_NE(error_of("campaign: c\nmodel: {config\n").message.find("c.yaml:"), std::string::npos);
  EXPECT_NE(error_of("campaign: c\n\tmodel: x\n").message.find("not valid YAML"),
            std::string::npos);
  EXPECT_NE(error_of("campaign: c\nmodel: m.json\n")
                .message.find("c.yaml:2:8: model: 'm.json' is not a map of keys"),
            std::string::npos);
  EXPECT_NE(error_of("[a, b]: c\n").message.find("a key is a text"), std::string::npos);
}

TEST(CampaignFileTest, MissingFilesAreNamed) {
  const Result<CampaignSpec> none = load_campaign("/nowhere/c.yaml");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("/nowhere/c.yaml"), std::string::npos);

  const std::string path = ::testing::TempDir() + "fusefarm_campaign_without_model.yaml";
  std::ofstream(path) << kMinimal;
  const Result<CampaignSpec> model = load_campaign(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_NE(model.error().message.find("model.config"), std::string::npos);
  EXPECT_NE(model.error().message.find("m.json"), std::string::npos);
}

TEST(CampaignFileTest, EverySampleLoads) {
  int samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FUSEFARM_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    ++samples;
    const Result<CampaignSpec> spec = load_campaign(entry.path().string());
    EXPECT_TRUE(spec.ok()) << (spec.ok() ? "" : spec.error().message);
  }
  EXPECT_GE(samples, 2);
}

}  // namespace
}  // namespace fusefarm::configs
