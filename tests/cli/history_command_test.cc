#include "cli/history_command.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/store/store_fixture.h"

namespace fusefarm::cli {
namespace {

using nlohmann::json;
using store::must;

struct Ran {
  int exit_code = -1;
  std::string out, err;

  json value() const { return json::parse(out, nullptr, false); }
};

class HistoryCommandTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    const auto store = open();
    const CampaignId campaign =
        must(store->begin_or_resume_campaign(store::sample_spec(), digest_of("s"))).id;
    for (int i = 1; i <= 2; ++i) {
      const Candidate candidate = store::numbered_candidate(i);
      must(store->save_candidate(candidate));
      const ExperimentId id =
          must(store->start_experiment(campaign, 1, store::sample_key(candidate)));
      must(store->finish_experiment(
          id, store::sample_outcome(candidate,
                                    i == 1 ? VerdictClass::kNoGain : VerdictClass::kImproved)));
    }
    store::RewriteRow rewrite;
    rewrite.campaign = campaign;
    rewrite.region = digest_of("region");
    rewrite.contains = {"add", "rms_norm"};
    rewrite.workload = "decode-8";
    rewrite.candidate = store::numbered_candidate(2).digest();
    must(store->propose_rewrite(rewrite));
    must(store->end_campaign(campaign, store::CampaignState::kFinished, "improved", "{}"));
  }

  Ran run(std::vector<std::string> arguments) const {
    CLI::App app;
    Ran ran;
    add_history_command(app, ran.exit_code);
    arguments.insert(arguments.begin(), "history");
    arguments.insert(arguments.end(), {"--store", path()});
    std::ranges::reverse(arguments);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError& error) {
      ran.exit_code = 2;
    }
    ran.out = ::testing::internal::GetCapturedStdout();
    ran.err = ::testing::internal::GetCapturedStderr();
    return ran;
  }
};

TEST_F(HistoryCommandTest, ListShowsExperimentsNewestFirst) {
  const Ran ran = run({"list", "-o", "json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_EQ(ran.value().size(), 2U);
  EXPECT_EQ(ran.value()[0]["verdict"], "IMPROVED");
  EXPECT_EQ(ran.value()[1]["verdict"], "NO_GAIN");
  EXPECT_NEAR(ran.value()[0]["screen"]["estimate"].get<double>(), 1.10517, 1e-5);
  EXPECT_TRUE(ran.value()[0]["confirmation"].is_null());
}

TEST_F(HistoryCommandTest, ListFiltersByCampaignRegionAndVerdict) {
  const auto count = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"list", "-o", "json"});
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.value().size();
  };
  EXPECT_EQ(count({"--verdict", "improved"}), 1U);
  EXPECT_EQ(count({"--verdict", "no-gain"}), 1U);
  EXPECT_EQ(count({"--campaign", "c"}), 2U);
  EXPECT_EQ(count({"--campaign", "1"}), 2U);
  EXPECT_EQ(count({"--campaign", "other"}), 0U);
  EXPECT_EQ(count({"--region", digest_of("region").hex().substr(0, 6)}), 2U);
  EXPECT_EQ(count({"--region", "00ff"}), 0U);
  EXPECT_EQ(count({"--limit", "1"}), 1U);
  EXPECT_EQ(count({"--kind", "confirm"}), 0U);
}

TEST_F(HistoryCommandTest, CampaignsAndRewritesAreListed) {
  const Ran campaigns = run({"list", "campaigns", "-o", "json"});
  ASSERT_EQ(campaigns.value().size(), 1U);
  EXPECT_EQ(campaigns.value()[0]["experiments"]["executed"], 2);
  EXPECT_EQ(campaigns.value()[0]["result"], "improved");
  const Ran rewrites = run({"list", "rewrites", "-o", "json"});
  ASSERT_EQ(rewrites.value().size(), 1U);
  EXPECT_EQ(rewrites.value()[0]["contains"], json({"add", "rms_norm"}));
  EXPECT_EQ(rewrites.value()[0]["state"], "proposed");
}

TEST_F(HistoryCommandTest, TablesHaveAHeaderAndARowEach) {
  const auto lines = [](const Ran& ran) { return std::ranges::count(ran.out, '\n'); };
  for (const char* what : {"experiments", "campaigns", "rewrites"}) {
    for (const char* output : {"table", "wide"}) {
      const Ran ran = run({"list", what, "-o", output});
      EXPECT_EQ(ran.exit_code, 0) << ran.err;
      EXPECT_TRUE(ran.out.starts_with("ID")) << ran.out;
      EXPECT_EQ(lines(ran), std::string(what) == "experiments" ? 3 : 2) << ran.out;
    }
  }
  EXPECT_NE(run({"list"}).out.find("1.105x [1.051, 1.162]"), std::string::npos);
}

TEST_F(HistoryCommandTest, ShowGivesAllOfOneThing) {
  const Ran experiment = run({"show", "2", "-o", "json"});
  EXPECT_EQ(experiment.exit_code, 0) << experiment.err;
  EXPECT_EQ(experiment.value()["outcome"]["measurements"].size(), 2U);
  EXPECT_EQ(run({"show", "experiment/2", "-o", "json"}).out, experiment.out);
  EXPECT_EQ(run({"show", "campaign/1", "-o", "json"}).value()["spec"]["name"], "c");
  const std::string digest = store::numbered_candidate(2).digest().hex();
  EXPECT_EQ(run({"show", "candidate/" + digest, "-o", "json"}).value()["source"], "// 2");
  const Ran table = run({"show", "2"});
  EXPECT_NE(table.out.find("IMPROVED"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("launches"), std::string::npos) << "raw samples flood the table";
}

TEST_F(HistoryCommandTest, WhatIsNotThereIsSaidWithExitCode2) {
  for (const char* reference : {"99", "campaign/99", "rewrite/1", "x", "0", "candidate/ab"}) {
    const Ran ran = run({"show", reference});
    EXPECT_EQ(ran.exit_code, 2) << reference;
    EXPECT_TRUE(ran.err.starts_with("fusefarm: ")) << ran.err;
    EXPECT_TRUE(ran.out.empty());
  }
  EXPECT_EQ(run({"list", "--verdict", "GREAT"}).exit_code, 2);
  EXPECT_EQ(run({"list", "--region", "xyz"}).exit_code, 2);
  std::filesystem::remove(path());
  EXPECT_EQ(run({"list"}).exit_code, 2);
}

TEST_F(HistoryCommandTest, ItWorksWhileARunOwnsTheStore) {
  const auto owner = open();
  EXPECT_EQ(run({"list"}).exit_code, 0);
}

}  // namespace
}  // namespace fusefarm::cli
