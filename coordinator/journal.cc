#include "coordinator/journal.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace fusefarm::coordinator {
namespace {

using nlohmann::json;

std::string payload_of(const std::string& what) { return json{{"what", what}}.dump(); }

std::string payload_of(const std::string& what, const StepRecord& record) {
  return json{{"what", what},
              {"seconds", record.seconds},
              {"done", record.done},
              {"infra", record.infra},
              {"cut", record.cut}}
      .dump();
}

Result<StepRecord> record_from(const std::string& payload) {
  const json value = json::parse(payload, nullptr, false);
  const bool well_formed =
      value.is_object() && value.contains("seconds") && value["seconds"].is_number() &&
      value.contains("done") && value["done"].is_number_integer() && value.contains("infra") &&
      value["infra"].is_array() && value.contains("cut") && value["cut"].is_boolean();
  if (!well_formed) {
    return Error{ErrorCode::kIntegrity, "a recorded decision is not readable: " + payload};
  }
  StepRecord record;
  record.seconds = value["seconds"].get<double>();
  record.done = value["done"].get<std::int64_t>();
  record.cut = value["cut"].get<bool>();
  for (const json& index : value["infra"]) {
    if (index.is_number_integer()) {
      record.infra.push_back(index.get<std::int64_t>());
    }
  }
  return record;
}

std::string what_of(const std::string& payload) {
  const json value = json::parse(payload, nullptr, false);
  if (!value.is_object() || !value.contains("what") || !value["what"].is_string()) {
    return payload;
  }
  return value["what"].get<std::string>();
}

}  // namespace

Journal::Journal(store::Store& store, store::CampaignRow campaign,
                 std::vector<store::Decision> recorded, AfterWrite after_write)
    : store_(&store),
      campaign_(std::move(campaign)),
      recorded_(std::move(recorded)),
      after_write_(std::move(after_write)) {}

Result<Journal> Journal::open(store::Store& store, const CampaignSpec& spec,
                              const Digest& spec_hash, AfterWrite after_write) {
  store::CampaignRow row = TRY(store.begin_or_resume_campaign(spec, spec_hash));
  const store::History* history = TRY(store.read());
  std::vector<store::Decision> decisions = TRY(history->decisions(row.id));
  return Journal(store, std::move(row), std::move(decisions), std::move(after_write));
}

Result<void> Journal::commit() {
  TRY(store_->flush());
  return after_write_ ? after_write_() : Result<void>{};
}

Result<std::optional<std::string>> Journal::next(const std::string& kind, const std::string& what) {
  if (!replaying()) {
    return std::optional<std::string>{};
  }
  const store::Decision& decision = recorded_[cursor_];
  if (decision.kind != kind || what_of(decision.payload) != what) {
    return Error{ErrorCode::kIntegrity,
                 "campaign '" + campaign_.name + "': decision " + std::to_string(cursor_) +
                     " is recorded as " + decision.kind + " (" + what_of(decision.payload) +
                     ") but is now " + kind + " (" + what +
                     "); use another campaign name or store.path to start afresh"};
  }
  ++cursor_;
  return std::optional<std::string>(decision.payload);
}

Result<void> Journal::append(const std::string& kind, const std::string& payload) {
  const store::Decision decision{static_cast<std::int64_t>(cursor_), kind, payload};
  TRY(store_->append_decision(campaign_.id, decision));
  recorded_.push_back(decision);
  ++cursor_;
  return commit();
}

Result<void> Journal::decide(const std::string& kind, const std::string& what) {
  if (TRY(next(kind, what))) {
    return {};
  }
  return append(kind, payload_of(what));
}

Result<std::optional<StepRecord>> Journal::recorded(const std::string& kind,
                                                    const std::string& what) {
  const std::optional<std::string> payload = TRY(next(kind, what));
  if (!payload) {
    return std::optional<StepRecord>{};
  }
  return std::optional<StepRecord>(TRY(record_from(*payload)));
}

Result<void> Journal::record(const std::string& kind, const std::string& what,
                             const StepRecord& record) {
  return append(kind, payload_of(what, record));
}

Result<std::optional<ProfileResult>> Journal::profile() {
  const store::History* history = TRY(store_->read());
  return history->profile(campaign_.id);
}

Result<void> Journal::save_profile(const ProfileResult& profile) {
  TRY(store_->save_profile(campaign_.id, profile));
  return commit();
}

Result<std::optional<Outcome>> Journal::find_outcome(int phase, const store::ExperimentKey& key) {
  const store::History* history = TRY(store_->read());
  std::optional<store::History::FoundOutcome> found = TRY(history->find_outcome(key));
  if (!found) {
    return std::optional<Outcome>{};
  }
  if (found->campaign != campaign_.id) {
    TRY(store_->record_reuse(campaign_.id, phase, found->experiment));
  }
  ++reused_;
  return std::optional<Outcome>(std::move(found->outcome));
}

Result<std::optional<IntegrationResult>> Journal::find_integration(
    int phase, const store::ExperimentKey& key) {
  const store::History* history = TRY(store_->read());
  std::optional<store::History::FoundIntegration> found = TRY(history->find_integration(key));
  if (!found) {
    return std::optional<IntegrationResult>{};
  }
  if (found->campaign != campaign_.id) {
    TRY(store_->record_reuse(campaign_.id, phase, found->experiment));
  }
  ++reused_;
  return std::optional<IntegrationResult>(std::move(found->result));
}

Result<std::vector<ExperimentId>> Journal::start(int phase,
                                                 const std::vector<store::ExperimentKey>& keys) {
  std::vector<ExperimentId> ids = TRY(store_->start_experiments(campaign_.id, phase, keys));
  TRY(commit());
  return ids;
}

Result<void> Journal::finish(ExperimentId id, const Outcome& outcome) {
  TRY(store_->finish_experiment(id, outcome));
  ++executed_;
  return commit();
}

Result<void> Journal::finish(ExperimentId id, const IntegrationResult& result) {
  TRY(store_->finish_integration(id, result));
  ++executed_;
  return commit();
}

Result<void> Journal::abandon(ExperimentId id, const std::string& reason) {
  TRY(store_->abandon_experiment(id, reason));
  return commit();
}

Result<RewriteId> Journal::propose_rewrite(const store::RewriteRow& row) {
  const store::History* history = TRY(store_->read());
  for (const store::RewriteRow& known : TRY(history->rewrites(campaign_.id))) {
    if (known.phase == row.phase && known.region == row.region && known.workload == row.workload &&
        known.candidate == row.candidate && known.graph_from == row.graph_from &&
        known.graph_to == row.graph_to) {
      return known.id;
    }
  }
  return store_->propose_rewrite(row);
}

Result<void> Journal::decide_rewrites(const std::vector<RewriteId>& ids, store::RewriteState state,
                                      const IntegrationResult& integration) {
  const store::History* history = TRY(store_->read());
  std::vector<RewriteId> open;
  for (const store::RewriteRow& known : TRY(history->rewrites(campaign_.id))) {
    const bool ours = std::find(ids.begin(), ids.end(), known.id) != ids.end();
    if (ours && known.state == store::RewriteState::kProposed) {
      open.push_back(known.id);
    }
  }
  if (open.empty()) {
    return {};
  }
  TRY(store_->decide_rewrites(open, state, integration));
  return commit();
}

Result<void> Journal::end(store::CampaignState state, const std::string& result,
                          const std::string& report) {
  return store_->end_campaign(campaign_.id, state, result, report);
}

}  // namespace fusefarm::coordinator
