// What the store keeps, as values. docs/store.md describes the tables behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "graph/graph.h"
#include "records/campaign.h"
#include "records/candidate.h"
#include "records/job.h"
#include "records/measurement.h"
#include "records/outcome.h"
#include "records/workload.h"

namespace fusefarm::store {

// kRunning after a crash, too: the next begin_or_resume_campaign() takes it up again.
enum class CampaignState : std::uint8_t { kRunning, kInterrupted, kFinished, kFailed };

struct CampaignRow {
  CampaignId id;
  std::string name;
  Digest spec_hash;
  CampaignState state = CampaignState::kRunning;
  std::string result;                         // improved | no_gain | "" while unfinished
  std::string report;                         // JSON, "" while unfinished
  std::int64_t started_ms = 0, ended_ms = 0;  // ended_ms 0: not ended
  int runs = 0;                               // how often begin_or_resume_campaign() took it up
};

enum class ExperimentKind : std::uint8_t { kProfile, kScreen, kConfirm, kIntegration, kEndToEnd };

enum class ExperimentState : std::uint8_t {
  kStarted,    // durable before the job is submitted
  kDone,       // has an outcome
  kReused,     // answered by an earlier experiment of another campaign
  kAbandoned,  // was started when its process died; never charged to the candidate
};

// What makes two experiments the same one. The workload counts by its shape, not by its name or
// weight, so that campaigns share results.
struct ExperimentKey {
  ExperimentKind kind = ExperimentKind::kScreen;
  Digest region;  // signature; zero for whole-model kinds
  Workload workload;
  // Content digests. Whole-model kinds: of the model version (graph and implementations) after and
  // before. Incumbent zero: the unfused baseline.
  Digest candidate, incumbent;
  std::string device_class, toolchain;
  std::string protocol;  // whatever else a verdict depends on: gate, rule version, isolation
};

struct ExperimentRow {
  ExperimentId id;
  CampaignId campaign;
  int phase = 0;
  ExperimentKind kind = ExperimentKind::kScreen;
  ExperimentState state = ExperimentState::kStarted;
  Digest region, candidate, incumbent;
  std::string workload;  // name
  std::string family, origin;
  std::string verdict, reason, detail;  // "" while unfinished
  std::string causal_label;
  std::optional<Interval> screen, confirmation;  // log speed-up
  std::int64_t started_ms = 0, ended_ms = 0;
};

struct ExperimentFilter {
  CampaignId campaign;        // none: all
  std::string campaign_name;  // all of this name; \"\": all
  std::string region_prefix;  // of the signature's hex form; "": all
  std::string verdict;        // "IMPROVED", ...; "": all
  std::string kind;           // "screen", ...; "": all
  std::int64_t limit = 1000;  // newest first
};

enum class RewriteState : std::uint8_t { kProposed, kCommitted, kRolledBack };

// One accepted implementation: region x workload. Rewrites tested together share `graph_to`.
struct RewriteRow {
  RewriteId id;
  CampaignId campaign;
  int phase = 0;
  Digest region;
  std::vector<std::string> contains;  // ops or names of the nodes inside, for people
  std::string workload;               // name
  Digest candidate;
  ExperimentId confirmation;    // the experiment whose estimate is quoted
  Digest graph_from, graph_to;  // graph_hash() of the versions
  RewriteState state = RewriteState::kProposed;
  std::string integration;  // IntegrationResult as JSON, "" while proposed
  std::string provenance;   // JSON of the coordinator's: predicted gain, share, ...
};

struct GraphVersionRow {
  CampaignId campaign;
  Digest hash;  // graph_hash()
  std::int32_t version = 0;
  std::optional<Digest> parent;  // none: as imported
  std::string provenance;        // JSON
};

// A choice of the search, in order. Read back on resume: recorded choices are taken, not made
// again.
struct Decision {
  std::int64_t sequence = 0;  // 0, 1, 2, ... in a campaign
  std::string kind;           // phase_start, select, round, commit, stop, ...
  std::string payload;        // JSON
};

struct Counters {
  std::int64_t total = 0;     // executed + reused
  std::int64_t executed = 0;  // by this campaign, over all its runs
  std::int64_t reused = 0;    // answered by other campaigns' experiments
  std::int64_t abandoned = 0;
};

const char* to_string(CampaignState state);
const char* to_string(ExperimentKind kind);
const char* to_string(ExperimentState state);
const char* to_string(RewriteState state);
std::optional<CampaignState> campaign_state_from(std::string_view name);
std::optional<ExperimentKind> experiment_kind_from(std::string_view name);
std::optional<ExperimentState> experiment_state_from(std::string_view name);
std::optional<RewriteState> rewrite_state_from(std::string_view name);

// Content address of a graph version: digest of its JSON.
Digest graph_hash(const graph::Graph& graph);

}  // namespace fusefarm::store
