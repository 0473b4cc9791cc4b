// A campaign of the tiny model over a real store and a made-up worker.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coordinator/campaign.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_proposer.h"
#include "tests/fakes/fake_worker.h"
#include "tests/fakes/inline_transport.h"
#include "tests/fakes/recording_sink.h"
#include "tests/fakes/tiny_model.h"

namespace fusefarm::coordinator {

class CampaignFixture : public ::testing::Test {
 protected:
  CampaignFixture() {
    const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
    // In memory where there is such a place: each campaign waits for dozens of syncs.
    const std::string root =
        std::filesystem::exists("/dev/shm") ? "/dev/shm/" : ::testing::TempDir();
    folder_ = root + "fusefarm_" + info->test_suite_name() + "_" + info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    spec_ = fakes::tiny_campaign(folder_);
    world_.gain = fakes::hill_gain;
  }

  ~CampaignFixture() override { std::filesystem::remove_all(folder_); }

  // One process's run of the campaign: opens the store, runs, closes it.
  Result<CampaignEnd> run(Journal::AfterWrite after_write = nullptr) {
    store::StoreOptions options;
    options.writer_thread = false;
    std::unique_ptr<store::Store> store =
        TRY(store::Store::open(spec_.store_path, clock_, options));
    fakes::FakeWorker worker(world_, &clock_);
    fakes::InlineTransport transport(worker);
    CampaignDeps deps{transport, *store, clock_, sink_};
    deps.stop_requested = [this] { return stop_; };
    deps.make_proposers = fakes::make_fake_proposers;
    deps.after_write = std::move(after_write);
    Result<CampaignEnd> end = run_campaign(spec_, std::move(deps));
    measured_ = worker.measured();
    runs_ = worker.runs();
    const store::History* history = TRY(store->read());
    decisions_.clear();
    for (const store::CampaignRow& row : TRY(history->campaigns())) {
      if (row.name == spec_.name && decisions_.empty()) {  // newest first
        decisions_ = TRY(history->decisions(row.id));
      }
    }
    return end;
  }

  static nlohmann::json report_of(const CampaignEnd& end) {
    return nlohmann::json::parse(end.report);
  }

  // Without what depends on this process's run.
  static nlohmann::json comparable(const CampaignEnd& end) {
    nlohmann::json report = report_of(end);
    report["experiments"].erase("executed");
    report["experiments"].erase("reused");
    report.erase("wall_seconds");
    for (nlohmann::json& phase : report["phases"]) {
      phase.erase("seconds");
    }
    return report;
  }

  std::string folder_;
  CampaignSpec spec_;
  fakes::FakeWorld world_;
  fakes::FakeClock clock_;
  fakes::RecordingSink sink_;
  bool stop_ = false;
  // Of the last run.
  int measured_ = 0;
  std::map<std::string, int> runs_;
  std::vector<store::Decision> decisions_;
};

}  // namespace fusefarm::coordinator
