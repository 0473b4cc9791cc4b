// The farm's memory: an SQLite file that one process owns and writes (docs/store.md).
//
// Rule for callers: whatever is acted upon is durable first. Writes are queued in order and
// committed in groups by the writer thread; flush() returns once everything queued before it is on
// disk. So: start_experiments(), flush(), submit the job. A kill at any point loses only writes
// that no flush() has confirmed, and never a part of one call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/history.h"
#include "store/rows.h"

namespace fusefarm::store {

struct StoreOptions {
  std::size_t queue_max = 4096;  // a full queue blocks its caller until the writer catches up
  std::size_t batch_max = 256;   // writes per commit
  Duration batch_delay = std::chrono::milliseconds(5);  // how long a write may wait for company
  bool writer_thread = true;   // false: every call commits by itself, on the caller's thread
  std::int64_t pages_max = 0;  // a bound on the file's size in pages of 4 KiB; 0: none
};

// Writes from any thread; read() from one thread at a time.
class Store {
  struct Key {};
  struct Parts;

 public:
  // Creates the file and its folder, or migrates an older one after a backup beside it. Errors:
  // kUnavailable (another process owns it: names the pid), kIntegrity (corrupt, another program's
  // or newer), kInvalidArgument (folder not writable), kExhausted (no space).
  static Result<std::unique_ptr<Store>> open(const std::string& path, const Clock& clock,
                                             const StoreOptions& options = {});
  Store(Key key, std::unique_ptr<Parts> parts);  // by open()
  ~Store();  // commits what is queued; errors are logged, so flush() first
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Durable on return. The campaign of this name and specification, or a new one. A finished one is
  // returned as it is, with its report; any other becomes kRunning, its `runs` counts one more, and
  // experiments that a dead process had started are abandoned.
  Result<CampaignRow> begin_or_resume_campaign(const CampaignSpec& spec, const Digest& spec_hash);
  // Durable on return. `report` is JSON or "".
  Result<void> end_campaign(CampaignId id, CampaignState state, const std::string& result,
                            const std::string& report);

  Result<void> save_profile(CampaignId id, const ProfileResult& profile);
  // `graph` is the graph of row.hash. Idempotent.
  Result<void> save_graph_version(const GraphVersionRow& row, const graph::Graph& graph);
  // `canonical` has this signature; `pattern` names its class for people. Idempotent.
  Result<void> save_region(const Digest& signature, const graph::Graph& canonical,
                           const std::string& pattern);
  Result<void> save_candidate(const Candidate& candidate);  // idempotent

  // One id per key, in order; all start in one commit.
  Result<std::vector<ExperimentId>> start_experiments(CampaignId campaign, int phase,
                                                      std::span<const ExperimentKey> keys);
  Result<ExperimentId> start_experiment(CampaignId campaign, int phase, const ExperimentKey& key);
  Result<void> finish_experiment(ExperimentId id, const Outcome& outcome);
  Result<void> finish_integration(ExperimentId id, const IntegrationResult& result);
  // The experiment ended without a verdict (infrastructure, cancelled); it may be started again.
  Result<void> abandon_experiment(ExperimentId id, const std::string& reason);
  // This campaign was answered by `source`. Nothing to count when `source` is its own. Idempotent.
  Result<void> record_reuse(CampaignId campaign, int phase, ExperimentId source);

  // Assigns row.id; row.state is kProposed.
  Result<RewriteId> propose_rewrite(const RewriteRow& row);
  // All of them in one commit: kCommitted or kRolledBack, with the integration that decided.
  Result<void> decide_rewrites(std::span<const RewriteId> ids, RewriteState state,
                               const IntegrationResult& integration);

  // Appends. The same sequence again with the same content is nothing new; with other content it is
  // kIntegrity at the next flush().
  Result<void> append_decision(CampaignId id, const Decision& decision);
  Result<void> append_event(CampaignId id, const std::string& kind, const std::string& payload);

  // Waits until every write queued before is durable. kExhausted: nothing is lost; the same writes
  // are tried again at the next flush(), after space was freed.
  Result<void> flush();
  // flush(), then the committed data. Borrowed, valid as long as the store.
  Result<const History*> read();

  const std::string& path() const;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fusefarm::store
