#include "coordinator/phase_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "search/attribution.h"

namespace fusefarm::coordinator {
namespace {

// Of the budget, so that what the first phase found can be grown.
constexpr double kFirstPhaseShare = 0.62;
constexpr int kConfirmAttempts = 2;  // per region and workload
constexpr double kLimitSlack = 1.2;  // a job may overrun its estimate by this before it is cut
constexpr double kLimitSecondsMin = 10;

}  // namespace

double final_reserve(const CampaignState& state) { return 1.25 * state.integrate_cost.seconds(); }

PhaseSearch::PhaseSearch(Parts parts, const search::PhasePlan& plan, int phase)
    : parts_(parts), desk_(parts), plan_(plan), phase_(phase) {
  const CampaignState& state = parts_.state;
  for (std::size_t i = 0; i < plan.regions.size(); ++i) {
    const search::RegionGroup& group = plan.regions[i].group;
    const double count = std::max(1.0, static_cast<double>(group.occurrences.size()));
    for (const search::CellEstimate& estimate : plan.regions[i].estimate.cells) {
      if (estimate.share <= 0) {
        continue;
      }
      search::EchoInputs inputs;
      inputs.signature = group.signature;
      inputs.region = group.region;
      inputs.pattern = group.pattern;
      inputs.workload = estimate.workload;
      inputs.share = estimate.share;
      inputs.open_share = estimate.open_share();
      inputs.now_seconds = estimate.now_seconds / count;
      inputs.floor_seconds = estimate.floor_seconds / count;
      inputs.threads = state.threads;
      inputs.min_gain = state.spec.gate.min_gain;
      inputs.search = state.spec.search;
      cells_.push_back(
          {i, estimate,
           std::make_unique<search::Echo>(std::move(inputs), state.proposers.borrowed(),
                                          &parts_.state.posteriors)});
    }
  }
}

double PhaseSearch::available_seconds() const {
  const search::BudgetLedger& ledger = parts_.state.ledger;
  if (!ledger.limited()) {
    return std::numeric_limits<double>::infinity();
  }
  const double reserve = final_reserve(parts_.state);
  const bool keep_some = phase_ == 1 && parts_.state.spec.search.phases > 1;
  const double cap = (ledger.total() - reserve) * (keep_some ? kFirstPhaseShare : 1);
  const auto promising = std::count_if(cells_.begin(), cells_.end(), [](const Cell& cell) {
    return !cell.echo->promising().empty();
  });
  const double commit = parts_.state.integrate_cost.seconds() +
                        parts_.state.confirm_cost.seconds() * static_cast<double>(promising + 1);
  return cap - ledger.spent() - commit;
}

double PhaseSearch::candidate_seconds(const Cell& cell) const {
  return parts_.state.screen_slowness.seconds() *
         search::predicted_screen_seconds(cell.echo->inputs().now_seconds);
}

Result<PhaseSearch::Cell*> PhaseSearch::most_promising() {
  Cell* best = nullptr;
  double best_value = -1;
  for (Cell& cell : cells_) {
    if (cell.echo->finished()) {
      continue;
    }
    const search::RoundPlan* plan = TRY(cell.echo->peek());
    if (!plan->candidates.empty() && plan->value > best_value) {
      best = &cell;
      best_value = plan->value;
    }
  }
  return best;
}

Result<void> PhaseSearch::screen_round(Cell& cell) {
  const double available = available_seconds();
  const double fit = available / candidate_seconds(cell);
  if (fit < 1) {
    cell.echo->stop("budget");
    return {};
  }
  const std::size_t count = fit < 1000 ? static_cast<std::size_t>(fit) : 1000;
  const int round = cell.echo->rounds() + 1;
  const std::vector<Candidate> candidates = cell.echo->begin_round(count);
  const search::RegionGroup& group = plan_.regions[cell.region].group;
  desk_.report("screen", phase_,
               fmt::format("phase {}: {} under {}, round {}: {} candidates", phase_, group.pattern,
                           cell.estimate.workload.name, round, candidates.size()),
               true);
  const double limit = std::max(kLimitSecondsMin, available * kLimitSlack);
  const bool whole = TRY(desk_.screen(group, *cell.echo, phase_, candidates, limit));
  cell.echo->end_round();
  if (!whole) {
    cell.echo->stop("budget");
  }
  return {};
}

Result<std::optional<Confirmed>> PhaseSearch::confirm_cell(Cell& cell) {
  const search::RegionGroup& group = plan_.regions[cell.region].group;
  int attempts = 0;
  for (const Outcome* screened : cell.echo->promising()) {
    if (attempts++ >= kConfirmAttempts) {
      break;
    }
    const Candidate* candidate = cell.echo->candidate(screened->candidate);
    desk_.report("confirm", phase_,
                 fmt::format("phase {}: confirming {} under {} ({:+.1f} % in the screen)", phase_,
                             group.pattern, cell.estimate.workload.name,
                             100 * std::expm1(screened->screen->estimate)),
                 true);
    Outcome outcome =
        TRY(desk_.confirm(group, cell.estimate.workload, phase_, *candidate, *screened));
    if (is_infrastructure(outcome.verdict.klass)) {
      outcome = TRY(desk_.confirm(group, cell.estimate.workload, phase_, *candidate, *screened));
    }
    if (outcome.verdict.klass == VerdictClass::kImproved && outcome.confirmation) {
      return std::optional<Confirmed>(Confirmed{cell.region, cell.estimate.workload, *candidate,
                                                std::move(outcome), cell.estimate.share});
    }
  }
  return std::optional<Confirmed>{};
}

Result<std::vector<Confirmed>> PhaseSearch::confirm() {
  std::vector<std::pair<double, Cell*>> order;
  for (Cell& cell : cells_) {
    const std::vector<const Outcome*> promising = cell.echo->promising();
    if (promising.empty()) {
      continue;
    }
    order.emplace_back(cell.estimate.share * search::lower_bound(*promising.front()->screen),
                       &cell);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Confirmed> confirmed;
  for (const auto& [value, cell] : order) {
    CampaignState& state = parts_.state;
    state.ledger.set_reserve(final_reserve(state) + state.integrate_cost.seconds());
    if (!confirmed.empty() && !state.ledger.affords(state.confirm_cost.seconds())) {
      cell->echo->stop("budget");
      break;
    }
    std::optional<Confirmed> one = TRY(confirm_cell(*cell));
    if (one) {
      confirmed.push_back(std::move(*one));
    }
  }
  return confirmed;
}

void PhaseSearch::learn_patterns(const std::vector<Confirmed>& confirmed) {
  CampaignState& state = parts_.state;
  for (std::size_t i = 0; i < plan_.regions.size(); ++i) {
    const search::RegionGroup& group = plan_.regions[i].group;
    const bool gained = std::any_of(confirmed.begin(), confirmed.end(),
                                    [&](const Confirmed& one) { return one.region == i; });
    // A search that the budget ended teaches nothing and may be taken up again.
    const bool ended = std::all_of(cells_.begin(), cells_.end(), [&](const Cell& cell) {
      return cell.region != i || (cell.echo->finished() && cell.echo->stop_reason() != "budget");
    });
    if (gained) {
      state.posteriors.credit(search::pattern_key(group), 1, 0);
    } else if (ended) {
      state.posteriors.credit(search::pattern_key(group), 0, 1);
      state.settled.insert(search::region_key(group));
    }
  }
}

Result<std::vector<Confirmed>> PhaseSearch::run(PhaseRecord& record) {
  while (Cell* cell = TRY(most_promising())) {
    TRY(screen_round(*cell));
  }
  std::vector<Confirmed> confirmed = TRY(confirm());
  learn_patterns(confirmed);
  for (const Cell& cell : cells_) {
    CellRecord entry;
    entry.region = cell.echo->inputs().signature;
    entry.pattern = cell.echo->inputs().pattern;
    entry.workload = cell.estimate.workload.name;
    entry.share = cell.estimate.share;
    entry.headroom = cell.estimate.headroom();
    entry.experiments = std::ssize(cell.echo->outcomes());
    entry.best_screen = cell.echo->best_gain();
    entry.stopped = cell.echo->stop_reason();
    record.cells.push_back(std::move(entry));
  }
  return confirmed;
}

}  // namespace fusefarm::coordinator
