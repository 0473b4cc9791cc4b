// Reading a store: by the run that owns it, and by `fusefarm history` beside a run or after it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/rows.h"

namespace fusefarm::store {

class Database;

std::string sqlite_version();

// A read-only connection: it never writes, checkpoints or takes the owner's lock, and sees
// committed data only. One thread at a time.
class History {
  struct Key {};

 public:
  // Errors: kNotFound, kIntegrity (corrupt, not ours, newer), kInvalidArgument (no permission).
  static Result<std::unique_ptr<History>> open(const std::string& path);
  History(Key key, std::unique_ptr<Database> database);  // by open()
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  Result<std::vector<CampaignRow>> campaigns() const;  // newest first
  Result<std::optional<CampaignRow>> campaign(CampaignId id) const;
  Result<std::optional<CampaignRow>> campaign_of(const std::string& name,
                                                 const Digest& spec_hash) const;
  Result<std::optional<CampaignSpec>> campaign_spec(CampaignId id) const;
  Result<std::optional<ProfileResult>> profile(CampaignId id) const;
  Result<Counters> counters(CampaignId id) const;

  // The newest finished experiment that is the same one, whichever campaign ran it. Infrastructure
  // verdicts are no answer. For kScreen, kConfirm.
  struct FoundOutcome {
    ExperimentId experiment;
    CampaignId campaign;
    Outcome outcome;
  };

  Result<std::optional<FoundOutcome>> find_outcome(const ExperimentKey& key) const;

  // For kIntegration, kEndToEnd.
  struct FoundIntegration {
    ExperimentId experiment;
    CampaignId campaign;
    IntegrationResult result;
  };

  Result<std::optional<FoundIntegration>> find_integration(const ExperimentKey& key) const;
  // Region outcomes of a campaign, oldest first, raw samples included.
  Result<std::vector<Outcome>> outcomes(CampaignId id) const;

  Result<std::vector<ExperimentRow>> experiments(const ExperimentFilter& filter) const;
  Result<std::optional<ExperimentRow>> experiment(ExperimentId id) const;
  // The whole outcome, raw samples included; nothing for whole-model kinds and unfinished ones.
  Result<std::optional<Outcome>> outcome(ExperimentId id) const;
  Result<std::optional<IntegrationResult>> integration(ExperimentId id) const;

  Result<std::optional<Candidate>> candidate(const Digest& digest) const;
  // The canonical graph, as JSON, of a signature.
  Result<std::optional<std::string>> region_json(const Digest& signature) const;
  Result<std::vector<RewriteRow>> rewrites(CampaignId id) const;  // in order of proposal
  Result<std::vector<GraphVersionRow>> graph_versions(CampaignId id) const;
  Result<std::optional<graph::Graph>> graph_version(CampaignId id, const Digest& hash) const;
  Result<std::vector<Decision>> decisions(CampaignId id) const;  // by sequence

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace fusefarm::store
