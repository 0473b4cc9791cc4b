// The coordinator's view of the store: decisions in order, experiments by key. Whatever is acted on
// is durable first.
//
// A resumed campaign runs the same code again from its start. Each decision is compared with the
// recorded one; a step whose record exists costs what it cost then, and its outcomes come from the
// store. So a resumed run takes the decisions of the first run, whatever the clock says now.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace fusefarm::coordinator {

// What a step that ran a job left behind besides its outcomes.
struct StepRecord {
  double seconds = 0;               // charged to the budget
  std::int64_t done = 0;            // candidates with an outcome, a prefix of the step's list
  std::vector<std::int64_t> infra;  // of those: ended by infrastructure, no outcome is stored
  bool cut = false;                 // ended by the time limit

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

class Journal {
 public:
  // `after_write` is called after each write became durable; its error ends the campaign there
  // (tests stop a campaign at every step through it).
  using AfterWrite = std::function<Result<void>()>;

  // Begins or resumes. The store is borrowed.
  static Result<Journal> open(store::Store& store, const CampaignSpec& spec,
                              const Digest& spec_hash, AfterWrite after_write);

  const store::CampaignRow& campaign() const { return campaign_; }

  bool replaying() const { return cursor_ < recorded_.size(); }

  // A decision without a job. Errors: kIntegrity when the store has another one at this place.
  Result<void> decide(const std::string& kind, const std::string& what);
  // The record of the next step when the store has it; the caller then takes its outcomes from the
  // store. Otherwise the caller runs the job and calls record().
  Result<std::optional<StepRecord>> recorded(const std::string& kind, const std::string& what);
  Result<void> record(const std::string& kind, const std::string& what, const StepRecord& record);

  Result<std::optional<ProfileResult>> profile();
  Result<void> save_profile(const ProfileResult& profile);

  // An answer that the store already has; counted as reused.
  Result<std::optional<Outcome>> find_outcome(int phase, const store::ExperimentKey& key);
  Result<std::optional<IntegrationResult>> find_integration(int phase,
                                                            const store::ExperimentKey& key);
  // Durable on return, ids in the order of the keys.
  Result<std::vector<ExperimentId>> start(int phase, const std::vector<store::ExperimentKey>& keys);
  Result<void> finish(ExperimentId id, const Outcome& outcome);
  Result<void> finish(ExperimentId id, const IntegrationResult& result);
  Result<void> abandon(ExperimentId id, const std::string& reason);

  // The row that this campaign already has of the same rewrite, or a new one.
  Result<RewriteId> propose_rewrite(const store::RewriteRow& row);
  Result<void> decide_rewrites(const std::vector<RewriteId>& ids, store::RewriteState state,
                               const IntegrationResult& integration);

  // Writes that nothing is decided on yet; durable with the next durable write.
  store::Store& store() { return *store_; }

  Result<void> commit();  // flush
  Result<void> end(store::CampaignState state, const std::string& result,
                   const std::string& report);

  // Of this process's run of the campaign.
  std::int64_t executed() const { return executed_; }

  std::int64_t reused() const { return reused_; }

 private:
  Journal(store::Store& store, store::CampaignRow campaign, std::vector<store::Decision> recorded,
          AfterWrite after_write);
  // The next recorded payload, or nullopt at the end of the record.
  Result<std::optional<std::string>> next(const std::string& kind, const std::string& what);
  Result<void> append(const std::string& kind, const std::string& payload);

  store::Store* store_;
  store::CampaignRow campaign_;
  std::vector<store::Decision> recorded_;
  AfterWrite after_write_;
  std::size_t cursor_ = 0;
  std::int64_t executed_ = 0, reused_ = 0;
};

}  // namespace fusefarm::coordinator
