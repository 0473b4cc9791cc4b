#include "store/store.h"

#include <atomic>
#include <filesystem>
#include <mutex>

#include <sys/vfs.h>

#include "base/check.h"
#include "base/files.h"
#include "base/log.h"
#include "graph/graph_io.h"
#include "records/campaign_json.h"
#include "records/job_json.h"
#include "store/database.h"
#include "store/owner_lock.h"
#include "store/schema.h"
#include "store/writer.h"
#include "store/writes.h"

namespace fusefarm::store {
namespace {

// Ids that no row has yet. Only this process inserts, so counting in memory is enough.
class IdSource {
 public:
  explicit IdSource(std::int64_t last) : next_(static_cast<std::uint64_t>(last) + 1) {}

  std::uint64_t next() { return next_.fetch_add(1); }

 private:
  std::atomic<std::uint64_t> next_;
};

void warn_of_network_filesystem(const std::string& path) {
  constexpr long kNfs = 0x6969;
  constexpr long kSmb2 = 0xFE534D42;
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) {
    return;
  }
  if (info.f_type == kNfs || info.f_type == kSmb2) {
    logger("store").warn(
        "network_filesystem path={} remedy=\"locks and shared memory are unreliable there; put"
        " store.path on a local disk\"",
        path);
  }
}

Result<void> check_after_crash(Database& database) {
  Statement clean = TRY(database.prepare("SELECT value FROM meta WHERE key = 'clean_stop'"));
  const bool stopped_cleanly = TRY(clean.step()) && clean.text(0) == "1";
  if (stopped_cleanly) {
    return {};
  }
  Statement check = TRY(database.prepare("PRAGMA quick_check(1)"));
  if (TRY(check.step()) && check.text(0) != "ok") {
    return Error{ErrorCode::kIntegrity, "history database " + database.path() +
                                            " is damaged: " + check.text(0) +
                                            "; move the file away or restore a backup"};
  }
  return {};
}

Result<void> set_clean_stop(Database& database, bool clean) {
  return TRY(database.prepare("UPDATE meta SET value = ? WHERE key = 'clean_stop'"))
      .bind(clean ? "1" : "0")
      .run();
}

Result<std::unique_ptr<Database>> open_for_writing(const std::string& path,
                                                   std::int64_t pages_max) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::unique_ptr<Database> database = TRY(Database::open(path, Database::Mode::kReadWrite));
  warn_of_network_filesystem(folder.empty() ? "." : folder);
  if (pages_max > 0) {
    TRY(database->execute("PRAGMA max_page_count = " + std::to_string(pages_max)));
  }
  TRY(migrate(*database, migrations()));
  TRY(check_after_crash(*database));
  TRY(set_clean_stop(*database, false));
  return database;
}

}  // namespace

struct Store::Parts {
  Parts(std::string path_, const Clock& clock_, OwnerLock lock_, std::unique_ptr<Database> database,
        const StoreOptions& options)
      : path(std::move(path_)),
        clock(clock_),
        lock(std::move(lock_)),
        writer(std::move(database), options) {}

  const std::string path;
  const Clock& clock;
  OwnerLock lock;  // released last
  Writer writer;
  std::unique_ptr<History> history;
  std::unique_ptr<IdSource> campaigns, experiments, rewrites;
  std::mutex begin_mutex;
};

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const Clock& clock,
                                           const StoreOptions& options) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) {
    const Result<void> made = make_directories(folder);
    if (!made.ok()) {
      return made.error().with_context("history database " + path);
    }
  }
  OwnerLock lock = TRY(OwnerLock::take(path));
  std::unique_ptr<Database> database = TRY(open_for_writing(path, options.pages_max));
  auto campaigns = std::make_unique<IdSource>(
      TRY(database->integer("SELECT coalesce(max(id), 0) FROM campaign")));
  auto experiments = std::make_unique<IdSource>(
      TRY(database->integer("SELECT coalesce(max(id), 0) FROM experiment")));
  auto rewrites = std::make_unique<IdSource>(
      TRY(database->integer("SELECT coalesce(max(id), 0) FROM rewrite")));
  auto parts = std::make_unique<Parts>(path, clock, std::move(lock), std::move(database), options);
  parts->campaigns = std::move(campaigns);
  parts->experiments = std::move(experiments);
  parts->rewrites = std::move(rewrites);
  parts->history = TRY(History::open(path));
  return std::make_unique<Store>(Key{}, std::move(parts));
}

Store::Store(Key /*key*/, std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Store::~Store() {
  if (!parts_->writer.flush().ok()) {
    return;  // ~Writer says what was lost
  }
  const Result<void> queued =
      parts_->writer.push([](Database& database) { return set_clean_stop(database, true); });
  static_cast<void>(queued.ok());
  parts_->history.reset();  // so that the writer's connection is the last one and checkpoints
}

const std::string& Store::path() const { return parts_->path; }

Result<void> Store::flush() { return parts_->writer.flush(); }

Result<const History*> Store::read() {
  TRY(flush());
  return static_cast<const History*>(parts_->history.get());
}

Result<CampaignRow> Store::begin_or_resume_campaign(const CampaignSpec& spec,
                                                    const Digest& spec_hash) {
  const std::scoped_lock lock(parts_->begin_mutex);
  const History* history = TRY(read());
  std::optional<CampaignRow> row = TRY(history->campaign_of(spec.name, spec_hash));
  if (row && row->state == CampaignState::kFinished) {
    return *row;
  }
  const std::int64_t now_ms = parts_->clock.wall_ms();
  if (row) {
    TRY(parts_->writer.push(take_up_campaign(row->id, now_ms)));
  } else {
    TRY(parts_->writer.push(insert_campaign(CampaignId{parts_->campaigns->next()}, spec.name,
                                            spec_hash, to_json(spec), now_ms)));
  }
  history = TRY(read());
  row = TRY(history->campaign_of(spec.name, spec_hash));
  FUSEFARM_CHECK(row.has_value(), spec.name);
  return *row;
}

Result<void> Store::end_campaign(CampaignId id, CampaignState state, const std::string& result,
                                 const std::string& report) {
  TRY(parts_->writer.push(update_campaign_end(id, state, result, report, parts_->clock.wall_ms())));
  return flush();
}

Result<void> Store::save_profile(CampaignId id, const ProfileResult& profile) {
  return parts_->writer.push(update_profile(id, to_json(profile)));
}

Result<void> Store::save_graph_version(const GraphVersionRow& row, const graph::Graph& graph) {
  std::string json = graph::to_json(graph);
  FUSEFARM_CHECK(digest_of(json) == row.hash, "graph version " + std::to_string(row.version));
  return parts_->writer.push(insert_graph_version(row, std::move(json), parts_->clock.wall_ms()));
}

Result<void> Store::save_region(const Digest& signature, const graph::Graph& canonical,
                                const std::string& pattern) {
  return parts_->writer.push(
      insert_region(signature, graph::to_json(canonical), pattern, parts_->clock.wall_ms()));
}

Result<void> Store::save_candidate(const Candidate& candidate) {
  return parts_->writer.push(insert_candidate(candidate, parts_->clock.wall_ms()));
}

Result<std::vector<ExperimentId>> Store::start_experiments(CampaignId campaign, int phase,
                                                           std::span<const ExperimentKey> keys) {
  std::vector<ExperimentId> ids;
  std::vector<ExperimentStart> starts;
  for (const ExperimentKey& key : keys) {
    ids.push_back(ExperimentId{parts_->experiments->next()});
    starts.push_back({ids.back(), campaign, phase, key});
  }
  TRY(parts_->writer.push(insert_experiments(std::move(starts), parts_->clock.wall_ms())));
  return ids;
}

Result<ExperimentId> Store::start_experiment(CampaignId campaign, int phase,
                                             const ExperimentKey& key) {
  return TRY(start_experiments(campaign, phase, {&key, 1})).front();
}

Result<void> Store::finish_experiment(ExperimentId id, const Outcome& outcome) {
  return parts_->writer.push(update_outcome(id, outcome, parts_->clock.wall_ms()));
}

Result<void> Store::finish_integration(ExperimentId id, const IntegrationResult& result) {
  return parts_->writer.push(update_integration(id, result, parts_->clock.wall_ms()));
}

Result<void> Store::abandon_experiment(ExperimentId id, const std::string& reason) {
  return parts_->writer.push(update_abandoned(id, reason, parts_->clock.wall_ms()));
}

Result<void> Store::record_reuse(CampaignId campaign, int phase, ExperimentId source) {
  return parts_->writer.push(insert_reuse(ExperimentId{parts_->experiments->next()}, campaign,
                                          phase, source, parts_->clock.wall_ms()));
}

Result<RewriteId> Store::propose_rewrite(const RewriteRow& row) {
  RewriteRow assigned = row;
  assigned.id = RewriteId{parts_->rewrites->next()};
  TRY(parts_->writer.push(insert_rewrite(assigned, parts_->clock.wall_ms())));
  return assigned.id;
}

Result<void> Store::decide_rewrites(std::span<const RewriteId> ids, RewriteState state,
                                    const IntegrationResult& integration) {
  IntegrationResult without_samples = integration;  // they are with the experiment
  for (WorkloadIntegration& workload : without_samples.workloads) {
    workload.measurement = {};
  }
  return parts_->writer.push(update_rewrites({ids.begin(), ids.end()}, state,
                                             to_json(without_samples), parts_->clock.wall_ms()));
}

Result<void> Store::append_decision(CampaignId id, const Decision& decision) {
  return parts_->writer.push(insert_decision(id, decision, parts_->clock.wall_ms()));
}

Result<void> Store::append_event(CampaignId id, const std::string& kind,
                                 const std::string& payload) {
  return parts_->writer.push(insert_event(id, kind, payload, parts_->clock.wall_ms()));
}

}  // namespace fusefarm::store
