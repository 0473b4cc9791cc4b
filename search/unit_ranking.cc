#include "search/unit_ranking.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.h"

namespace fusefarm::search {
namespace {

constexpr double kRelevance = 0.7;  // lambda of MMR
// What a unit may bring beyond its prediction; keeps rounds alive whose predictions are all
// reached.
constexpr double kSurprise = 0.01;

double draw_value(const PooledUnit& unit, const Posteriors& posteriors, const RankInputs& inputs) {
  Random random = Random::keyed(inputs.seed, "unit-value", inputs.decision, unit.digest.prefix());
  const double p_family =
      posteriors.of(unit.hypothesis_key(inputs.pattern), Beta{1, 1}).draw(random);
  const double p_implementer = posteriors.of(unit.implementer_key(), Beta{2, 1}).draw(random);
  const double gain =
      std::max(0.0, inputs.open_share * unit.predicted_gain() - inputs.best_gain - inputs.margin);
  return inputs.share * p_family * p_implementer * (gain + kSurprise) / inputs.cost_seconds;
}

double schedule_similarity(const Candidate& a, const Candidate& b) {
  if (a.schedule.empty() && b.schedule.empty()) {
    return a.source == b.source ? 1 : 0;
  }
  double equal = 0;
  double all = static_cast<double>(b.schedule.size());
  for (const auto& [name, value] : a.schedule) {
    const auto other = b.schedule.find(name);
    if (other == b.schedule.end()) {
      all += 1;
    } else if (other->second == value) {
      equal += 1;
    }
  }
  return all > 0 ? equal / all : 0;
}

// At most half of the slots to one family while others are there to take them.
class FamilyQuota {
 public:
  FamilyQuota(const std::vector<PooledUnit>& pool, std::size_t slots) : slots_(slots) {
    for (const PooledUnit& unit : pool) {
      ++waiting_[unit.hypothesis.family];
    }
  }

  bool allows(const PooledUnit& unit) const {
    const std::string& family = unit.hypothesis.family;
    const auto taken = taken_.find(family);
    const std::size_t own = taken == taken_.end() ? 0 : taken->second;
    if (2 * (own + 1) <= slots_ + 1) {
      return true;
    }
    return std::none_of(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
      return entry.first != family && entry.second > 0;
    });
  }

  // A live family without a slot yet goes first.
  bool starved(const PooledUnit& unit) const { return !taken_.contains(unit.hypothesis.family); }

  void take(const PooledUnit& unit) {
    ++taken_[unit.hypothesis.family];
    --waiting_[unit.hypothesis.family];
  }

 private:
  std::size_t slots_;
  std::map<std::string, std::size_t> taken_, waiting_;
};

}  // namespace

std::string PooledUnit::hypothesis_key(const std::string& pattern) const {
  return "hypothesis/" + hypothesis.family + "/" + pattern;
}

std::string PooledUnit::implementer_key() const {
  return "implementer/" + proposer + "/" + unit.candidate.family;
}

double similarity(const PooledUnit& a, const PooledUnit& b) {
  const double family = a.hypothesis.family == b.hypothesis.family ? 1 : 0;
  return 0.4 * family + 0.6 * schedule_similarity(a.unit.candidate, b.unit.candidate);
}

std::vector<RankedUnit> rank_units(const std::vector<PooledUnit>& pool,
                                   const Posteriors& posteriors, const RankInputs& inputs) {
  std::vector<double> value(pool.size());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    value[i] = draw_value(pool[i], posteriors, inputs);
  }
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return value[a] > value[b]; });
  std::vector<double> rank(pool.size());  // 1: best, towards 0: last
  for (std::size_t place = 0; place < order.size(); ++place) {
    rank[order[place]] = 1 - static_cast<double>(place) / static_cast<double>(order.size());
  }
  FamilyQuota quota(pool, inputs.count_max);
  std::vector<RankedUnit> result;
  std::vector<double> nearest(pool.size(), 0);  // similarity to what is chosen
  std::vector<bool> taken(pool.size(), false);
  while (result.size() < std::min(inputs.count_max, pool.size())) {
    std::size_t best = pool.size();
    double best_score = -2;
    for (const std::size_t i : order) {
      if (taken[i] || !quota.allows(pool[i])) {
        continue;
      }
      const double starved = quota.starved(pool[i]) ? 0.2 : 0;
      const double score = kRelevance * rank[i] - (1 - kRelevance) * nearest[i] + starved;
      if (score > best_score) {
        best = i;
        best_score = score;
      }
    }
    if (best == pool.size()) {
      break;
    }
    taken[best] = true;
    quota.take(pool[best]);
    result.push_back({best, value[best]});
    for (std::size_t i = 0; i < pool.size(); ++i) {
      nearest[i] = std::max(nearest[i], similarity(pool[i], pool[best]));
    }
  }
  return result;
}

}  // namespace fusefarm::search
