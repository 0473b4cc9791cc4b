#include "search/budget.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace fusefarm::search {

BudgetLedger::BudgetLedger(double total_seconds, double reserve_seconds)
    : total_(total_seconds), reserve_(reserve_seconds) {}

void BudgetLedger::charge(const std::string& account, double seconds) {
  FUSEFARM_CHECK(seconds >= 0, "negative charge to " + account);
  spent_ += seconds;
  accounts_[account] += seconds;
}

double BudgetLedger::spent(const std::string& account) const {
  const auto found = accounts_.find(account);
  return found == accounts_.end() ? 0 : found->second;
}

double BudgetLedger::remaining_with_reserve() const {
  if (!limited()) {
    return std::numeric_limits<double>::infinity();
  }
  return std::max(0.0, total_ - spent_);
}

double BudgetLedger::remaining() const {
  return std::max(0.0, remaining_with_reserve() - reserve_);
}

void CostEstimate::observe(double seconds) {
  // The first observation replaces the guess; later ones move it by a third.
  const double weight = observed_ == 0 ? 1.0 : 1.0 / 3.0;
  seconds_ += weight * (seconds - seconds_);
  ++observed_;
}

}  // namespace fusefarm::search
