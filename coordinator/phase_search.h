// The search part of a phase: ECHO rounds over the selected regions under one budget, then
// confirmations of what screened best.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "coordinator/experiment_desk.h"
#include "search/echo.h"
#include "search/graph_agent.h"

namespace fusefarm::coordinator {

struct Confirmed {
  std::size_t region = 0;  // into the phase's plan
  Workload workload;
  Candidate candidate;
  Outcome outcome;  // with its confirmation
  double share = 0;
};

class PhaseSearch {
 public:
  // `plan` is borrowed.
  PhaseSearch(Parts parts, const search::PhasePlan& plan, int phase);

  // Confirmed improvements. `record` receives what people may want to know about each cell.
  Result<std::vector<Confirmed>> run(PhaseRecord& record);

 private:
  struct Cell {
    std::size_t region = 0;
    search::CellEstimate estimate;
    std::unique_ptr<search::Echo> echo;
  };

  // The open cell whose next round promises most per second; nullptr: none is open.
  Result<Cell*> most_promising();
  Result<void> screen_round(Cell& cell);
  Result<std::vector<Confirmed>> confirm();
  Result<std::optional<Confirmed>> confirm_cell(Cell& cell);
  // What may still be spent on screens of this phase; infinity without a budget.
  double available_seconds() const;
  double candidate_seconds(const Cell& cell) const;
  void learn_patterns(const std::vector<Confirmed>& confirmed);

  Parts parts_;
  ExperimentDesk desk_;
  const search::PhasePlan& plan_;
  int phase_;
  std::vector<Cell> cells_;
};

// Time kept back for the last step of a campaign.
double final_reserve(const CampaignState& state);

}  // namespace fusefarm::coordinator
