// One campaign from specification to report: profile, phases of search and commit, the end-to-end
// test. Runs on the caller's thread; owns nothing but its state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/journal.h"
#include "coordinator/progress.h"
#include "records/campaign.h"
#include "records/transport.h"
#include "search/make_proposers.h"
#include "store/store.h"

namespace fusefarm::coordinator {

// All borrowed for the run.
struct CampaignDeps {
  Transport& transport;
  store::Store& store;
  const Clock& clock;
  ProgressSink& progress;
  // Polled between slow steps: true ends the campaign at the next safe point, resumable.
  std::function<bool()> stop_requested = [] { return false; };
  // For the report; 0: unknown.
  std::function<std::int64_t()> peak_memory_bytes = [] { return std::int64_t{0}; };
  // What this host is, as a profile names it; "": not known before the first job. A campaign is
  // resumed only where it was begun: times of two device classes don't mix.
  std::string device_class = "";
  // By the campaign's names.
  std::function<Result<search::ProposerSet>(const std::vector<std::string>&, const codegen::Roofs&)>
      make_proposers = search::make_proposers;
  Journal::AfterWrite after_write = nullptr;  // tests only
};

struct CampaignEnd {
  std::string result;  // improved | no_gain
  std::string report;  // JSON, docs/formats.md
};

// Runs or resumes; `spec.threads` is resolved (not 0). A campaign that the store holds as finished
// runs nothing and returns its report, with 0 experiments executed.
// Errors: kCancelled (stopped; the same call resumes), kIntegrity (the store contradicts this
// version's decisions), whatever the worker can't recover from.
Result<CampaignEnd> run_campaign(const CampaignSpec& spec, CampaignDeps deps);

}  // namespace fusefarm::coordinator
