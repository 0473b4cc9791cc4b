#include "coordinator/campaign.h"

#include <cmath>
#include <set>

#include "tests/coordinator/campaign_fixture.h"

namespace fusefarm::coordinator {
namespace {

using CampaignTest = CampaignFixture;

TEST_F(CampaignTest, ImprovingCandidatesBecomeRewritesAndTheWholeModelGetsFaster) {
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->result, "improved");
  const nlohmann::json report = report_of(*end);
  EXPECT_GE(report["phases"].size(), 2U);
  EXPECT_GE(report["rewrites"].size(), 2U);
  EXPECT_GT(report["end_to_end"]["speedup"]["lo"].get<double>(), 1.0);
  for (const nlohmann::json& rewrite : report["rewrites"]) {
    EXPECT_TRUE(rewrite["boundary"]["ok"].get<bool>());
    EXPECT_TRUE(rewrite["integration"]["ok"].get<bool>());
    EXPECT_GT(rewrite["confirmation"]["lo"].get<double>(), 1.0);
    EXPECT_GE(rewrite["contains"].size(), 2U);
  }
  EXPECT_EQ(report["experiments"]["total"], report["experiments"]["executed"].get<int>() +
                                                report["experiments"]["reused"].get<int>());
  EXPECT_NEAR(report["realised_over_predicted"].get<double>(), 1.0, 0.2);
}

TEST_F(CampaignTest, ALaterPhaseGrowsAnAcceptedRegion) {
  // Larger regions gain more, so growth pays.
  world_.gain = [](const Digest& region, const Workload& workload, const Candidate& candidate) {
    return 0.3 + 0.1 * fakes::hill_gain(region, workload, candidate);
  };
  spec_.search.region_nodes_max = 2;
  spec_.search.phases = 3;
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  bool grown = false;
  const nlohmann::json report = report_of(*end);
  for (const nlohmann::json& rewrite : report["rewrites"]) {
    for (const nlohmann::json& member : rewrite["contains"]) {
      grown = grown || member.get<std::string>().starts_with("region:");
    }
  }
  // The law gives every region the same gain, so a larger one over an accepted one gains only on
  // what it adds; growth may be refused, but never a rewrite that is slower.
  EXPECT_GT(report["end_to_end"]["speedup"]["lo"].get<double>(), 1.0);
  EXPECT_GE(report["phases"].size(), 2U);
  EXPECT_TRUE(grown);
}

TEST_F(CampaignTest, WithoutAnyTrueGainNothingIsCommittedAndTheIntervalHoldsOne) {
  world_.gain = [](const Digest&, const Workload&, const Candidate&) { return 0.0; };
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->result, "no_gain");
  const nlohmann::json report = report_of(*end);
  EXPECT_TRUE(report["rewrites"].empty());
  EXPECT_LT(report["end_to_end"]["speedup"]["lo"].get<double>(), 1.0);
  EXPECT_GT(report["end_to_end"]["speedup"]["hi"].get<double>(), 1.0);
  EXPECT_TRUE(report["realised_over_predicted"].is_null());
}

TEST_F(CampaignTest, ARegionThatFailsIntegrationIsRolledBackAloneAndRemembered) {
  const Result<CampaignEnd> clean = run();
  ASSERT_TRUE(clean.ok()) << clean.error().message;
  const std::string bad = report_of(*clean)["rewrites"][0]["region"];
  const std::size_t before = report_of(*clean)["rewrites"].size();

  world_.breaks_integration = {Digest::from_hex(bad).take()};
  spec_.name = "broken";
  spec_.store_path = folder_ + "/broken.db";
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  const nlohmann::json report = report_of(*end);
  std::set<std::string> committed;
  for (const nlohmann::json& rewrite : report["rewrites"]) {
    committed.insert(rewrite["region"]);
  }
  EXPECT_FALSE(committed.contains(bad));
  EXPECT_FALSE(committed.empty());
  ASSERT_FALSE(report["rolled_back"].empty());
  EXPECT_EQ(report["rolled_back"][0]["region"], bad);
  EXPECT_EQ(report["rolled_back"][0]["integration"]["verdict"], "INTEGRATION_FAIL");
  EXPECT_GE(before, 2U);
  // Remembered: tried once, in no later phase again.
  std::set<int> phases;
  for (const nlohmann::json& rewrite : report["rolled_back"]) {
    if (rewrite["region"] == bad) {
      phases.insert(rewrite["phase"].get<int>());
    }
  }
  EXPECT_EQ(phases.size(), 1U);
}

TEST_F(CampaignTest, WrongCandidatesNeverReachConfirmation) {
  world_.defect = [](const Candidate& candidate) -> std::optional<Verdict> {
    if (candidate.family != "even") {
      return std::nullopt;
    }
    return Verdict{VerdictClass::kRejectWrong, "numeric", "made wrong", 1};
  };
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  const nlohmann::json report = report_of(*end);
  EXPECT_GT(report["verdicts"]["REJECT_WRONG"].get<int>(), 0);
  for (const nlohmann::json& rewrite : report["rewrites"]) {
    EXPECT_EQ(rewrite["family"], "odd");
  }
}

TEST_F(CampaignTest, TheBudgetIsKept) {
  spec_.search.budget_seconds = 90;
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_LE(seconds(clock_.now().time_since_epoch()), 95);
  EXPECT_GT(seconds(clock_.now().time_since_epoch()), 40);
  EXPECT_TRUE(report_of(*end).contains("end_to_end"));
}

TEST_F(CampaignTest, NoExperimentIsExecutedTwice) {
  ASSERT_TRUE(run().ok());
  for (const auto& [experiment, times] : runs_) {
    EXPECT_EQ(times, 1) << experiment;
  }
}

TEST_F(CampaignTest, TheRegionsAndTheirIncumbentsAreNamedInTheReport) {
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok());
  const nlohmann::json report = report_of(*end);
  EXPECT_EQ(report["environment"]["device_class"], "fake");
  EXPECT_TRUE(report["environment"].contains("gpu"));
  EXPECT_FALSE(report["baseline"]["library"].empty());
  EXPECT_EQ(report["seed"], 1);
  EXPECT_TRUE(report["versions"].contains("verdict_rules"));
}

TEST_F(CampaignTest, AModelFileThatIsMissingIsAnErrorOfTheUser) {
  spec_.model_config = folder_ + "/none.json";
  const Result<CampaignEnd> end = run();
  ASSERT_FALSE(end.ok());
  EXPECT_NE(end.error().message.find("none.json"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm::coordinator
