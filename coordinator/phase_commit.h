// The commit part of a phase: confirmed regions become rewrites of the graph, tested in the whole
// model, kept or rolled back.
#pragma once

#include <cstddef>
#include <vector>

#include "coordinator/experiment_desk.h"
#include "coordinator/phase_search.h"
#include "search/graph_agent.h"

namespace fusefarm::coordinator {

class PhaseCommit {
 public:
  // `plan` is borrowed.
  PhaseCommit(Parts parts, const search::PhasePlan& plan, int phase);

  // Regions committed. state.current, state.view and state.rewrites follow.
  Result<int> run(std::vector<Confirmed> confirmed);

 private:
  // A region with its confirmed implementations, all its occurrences.
  struct Proposal {
    std::size_t region = 0;
    std::vector<Confirmed> parts;
    double value = 0;  // sum of share x lower bound of the gain
  };

  struct Applied {
    ModelVersion version;
    std::vector<std::vector<search::Contraction>> contractions;  // per proposal
  };

  std::vector<Proposal> proposals(std::vector<Confirmed> confirmed) const;
  // Large ones alone, small ones as one batch; all as one batch when time is short.
  std::vector<std::vector<Proposal>> batches(std::vector<Proposal> all) const;
  // Tests the batch as one, halves it on failure; single failures are remembered.
  Result<int> commit(std::vector<Proposal> batch);
  Result<Applied> apply(const std::vector<Proposal>& batch) const;
  Result<IntegrationResult> integrate(const Applied& applied);
  Result<void> keep(const std::vector<Proposal>& batch, Applied applied,
                    const IntegrationResult& result, const std::vector<RewriteId>& ids);
  Result<std::vector<RewriteId>> propose(const std::vector<Proposal>& batch,
                                         const Applied& applied);
  void note(const Proposal& proposal, const IntegrationResult& result, bool committed);

  Parts parts_;
  ExperimentDesk desk_;
  const search::PhasePlan& plan_;
  int phase_;
};

}  // namespace fusefarm::coordinator
