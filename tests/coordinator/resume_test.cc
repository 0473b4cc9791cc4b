#include <cmath>

#include "tests/coordinator/campaign_fixture.h"

namespace fusefarm::coordinator {
namespace {

using ResumeTest = CampaignFixture;

TEST_F(ResumeTest, AFinishedCampaignRunAgainExecutesNothingAndSaysTheSame) {
  const Result<CampaignEnd> first = run();
  ASSERT_TRUE(first.ok()) << first.error().message;
  const Result<CampaignEnd> second = run();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(measured_, 0);
  EXPECT_EQ(report_of(*second)["experiments"]["executed"], 0);
  EXPECT_EQ(report_of(*second)["experiments"]["reused"], report_of(*first)["experiments"]["total"]);
  EXPECT_EQ(comparable(*second), comparable(*first));
}

TEST_F(ResumeTest, TheSameSeedOnRecordedOutcomesTakesTheSameDecisions) {
  ASSERT_TRUE(run().ok());
  const std::vector<store::Decision> first = decisions_;
  // Another campaign in the same store: every outcome is there already.
  spec_.name = "again";
  const Result<CampaignEnd> again = run();
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(decisions_.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(decisions_[i].kind, first[i].kind);
    EXPECT_EQ(nlohmann::json::parse(decisions_[i].payload)["what"],
              nlohmann::json::parse(first[i].payload)["what"]);
  }
  EXPECT_EQ(report_of(*again)["experiments"]["executed"], 0);
  EXPECT_EQ(measured_, 0);
}

TEST_F(ResumeTest, AnotherSeedDecidesOtherwise) {
  ASSERT_TRUE(run().ok());
  const std::vector<store::Decision> first = decisions_;
  spec_.search.seed = 2;
  ASSERT_TRUE(run().ok());
  bool differs = decisions_.size() != first.size();
  for (std::size_t i = 0; !differs && i < first.size(); ++i) {
    differs = decisions_[i].payload != first[i].payload;
  }
  EXPECT_TRUE(differs);
}

TEST_F(ResumeTest, AStopRequestEndsResumablyAndTheNextRunFinishes) {
  int writes = 0;
  const Result<CampaignEnd> stopped = run([&]() -> Result<void> {
    if (++writes == 12) {
      stop_ = true;
    }
    return {};
  });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  stop_ = false;
  const Result<CampaignEnd> end = run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->result, "improved");
}

TEST_F(ResumeTest, ACampaignKilledAfterAnyWriteEndsWithTheSameReport) {
  spec_.search.regions_per_phase = 2;
  spec_.search.rounds_max = 1;
  spec_.search.plans_per_round = 2;
  int writes = 0;
  const Result<CampaignEnd> whole = run([&]() -> Result<void> {
    ++writes;
    return {};
  });
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const int measured_whole = measured_;
  ASSERT_GT(writes, 20);
  for (int kill_at = 1; kill_at <= writes; ++kill_at) {
    spec_.store_path = folder_ + "/kill" + std::to_string(kill_at) + ".db";
    int seen = 0;
    const Result<CampaignEnd> killed = run([&]() -> Result<void> {
      if (++seen == kill_at) {
        return Error{ErrorCode::kInternal, "killed"};
      }
      return {};
    });
    ASSERT_FALSE(killed.ok()) << kill_at;
    const int measured_before = measured_;
    const Result<CampaignEnd> resumed = run();
    ASSERT_TRUE(resumed.ok()) << "killed after write " << kill_at << ": "
                              << resumed.error().message;
    EXPECT_EQ(comparable(*resumed), comparable(*whole)) << "killed after write " << kill_at;
    // At most the step in flight is measured again.
    EXPECT_LE(measured_before + measured_, measured_whole + 2) << kill_at;
  }
}

TEST_F(ResumeTest, ARecordOfOtherDecisionsIsRefusedAndNothingIsOverwritten) {
  int writes = 0;
  ASSERT_FALSE(run([&]() -> Result<void> {
                 if (++writes == 20) {
                   return Error{ErrorCode::kInternal, "killed"};
                 }
                 return {};
               }).ok());
  const std::size_t recorded = decisions_.size();
  ASSERT_GT(recorded, 2U);
  // As after an upgrade whose rules decide otherwise: the same campaign, another law of proposals.
  store::StoreOptions options;
  options.writer_thread = false;
  std::unique_ptr<store::Store> store =
      store::Store::open(spec_.store_path, clock_, options).take();
  fakes::FakeWorker worker(world_, &clock_);
  fakes::InlineTransport transport(worker);
  CampaignDeps deps{transport, *store, clock_, sink_};
  deps.make_proposers = [](const std::vector<std::string>&, const codegen::Roofs& roofs) {
    return search::make_proposers({"noop"}, roofs);
  };
  const Result<CampaignEnd> end = run_campaign(spec_, std::move(deps));
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::kIntegrity);
  EXPECT_NE(end.error().message.find("store.path"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm::coordinator
