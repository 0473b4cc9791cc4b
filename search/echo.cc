#include "search/echo.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/attribution.h"
#include "search/budget.h"

namespace fusefarm::search {
namespace {

constexpr double kSaturated = 0.05;  // within this of the floor: no more budget
constexpr int kIdleRoundsMax = 2;    // rounds without a better candidate
constexpr int kPoolPerSlot = 4;      // plans asked of the proposers for one measured
constexpr int kPoolMin = 16, kPoolMax = 64;

}  // namespace

Echo::Echo(EchoInputs inputs, std::vector<Proposer*> proposers, Posteriors* posteriors)
    : inputs_(std::move(inputs)), proposers_(std::move(proposers)), posteriors_(posteriors) {
  if (-std::log1p(-std::min(0.999, headroom())) < inputs_.min_gain) {
    stop_reason_ = "no headroom over compulsory work";
  }
}

double Echo::headroom() const {
  if (inputs_.now_seconds <= 0) {
    return 0;
  }
  return std::max(0.0, 1 - inputs_.floor_seconds / inputs_.now_seconds);
}

bool Echo::saturated() const {
  const double best_seconds = inputs_.now_seconds * std::exp(-best_gain_);
  return best_seconds <= inputs_.floor_seconds * (1 + kSaturated);
}

double Echo::cost_seconds() const {
  if (outcomes_.empty()) {
    return predicted_screen_seconds(inputs_.now_seconds);
  }
  return std::max(0.05, cost_sum_ / static_cast<double>(outcomes_.size()));
}

Result<std::vector<PooledUnit>> Echo::pool() {
  ProposalContext context;
  context.region = inputs_.region.get();
  context.signature = inputs_.signature;
  context.workload = inputs_.workload;
  context.threads = inputs_.threads;
  context.seed = inputs_.search.seed;
  context.round = round_;
  for (const Outcome& outcome : outcomes_) {
    context.history.push_back(&outcome);
  }
  const int wanted = std::clamp(inputs_.search.plans_per_round * kPoolPerSlot, kPoolMin, kPoolMax);
  std::vector<PooledUnit> units;
  std::set<Digest> pooled;
  for (Proposer* proposer : proposers_) {
    const std::vector<Plan> plans = TRY(proposer->propose(context, wanted));
    for (const Plan& plan : plans) {
      for (const Unit& unit : plan.units) {
        const Digest digest = unit.candidate.digest();
        if (seen_.contains(digest) || !pooled.insert(digest).second) {
          continue;
        }
        const auto hypothesis = static_cast<std::size_t>(std::max(0, unit.hypothesis));
        PooledUnit entry{proposer->name(), {}, unit, digest};
        if (hypothesis < plan.hypotheses.size()) {
          entry.hypothesis = plan.hypotheses[hypothesis];
        }
        units.push_back(std::move(entry));
      }
    }
  }
  return units;
}

Result<const RoundPlan*> Echo::peek() {
  if (has_prepared_ || finished()) {
    return static_cast<const RoundPlan*>(&prepared_);
  }
  prepared_ = {};
  prepared_units_.clear();
  const std::vector<PooledUnit> units = TRY(pool());
  RankInputs rank;
  rank.share = inputs_.share;
  rank.best_gain = best_gain_;
  rank.margin = inputs_.min_gain;
  rank.open_share = inputs_.open_share;
  rank.cost_seconds = cost_seconds();
  rank.pattern = inputs_.pattern;
  rank.seed = inputs_.search.seed;
  rank.decision = DigestBuilder()
                      .add(inputs_.signature)
                      .add(inputs_.workload.name)
                      .add(static_cast<std::uint64_t>(round_))
                      .finish()
                      .prefix();
  rank.count_max = static_cast<std::size_t>(std::max(1, inputs_.search.plans_per_round));
  for (const RankedUnit& ranked : rank_units(units, *posteriors_, rank)) {
    prepared_.value = std::max(prepared_.value, ranked.value);
    prepared_.candidates.push_back(units[ranked.index].unit.candidate);
    prepared_units_.push_back(units[ranked.index]);
  }
  has_prepared_ = true;
  if (prepared_.candidates.empty()) {
    stop_reason_ = round_ == 0 ? "nothing was proposed" : "nothing new was proposed";
  }
  return static_cast<const RoundPlan*>(&prepared_);
}

std::vector<Candidate> Echo::begin_round(std::size_t count_max) {
  std::vector<Candidate> taken;
  for (const PooledUnit& unit : prepared_units_) {
    if (taken.size() >= count_max) {
      break;
    }
    seen_.insert(unit.digest);
    units_.insert_or_assign(unit.digest, unit);
    taken.push_back(unit.unit.candidate);
  }
  has_prepared_ = false;
  best_before_round_ = best_gain_;
  return taken;
}

void Echo::observe(Outcome& outcome) {
  const auto found = units_.find(outcome.candidate);
  if (found == units_.end()) {
    return;
  }
  const PooledUnit& unit = found->second;
  const std::string hypothesis = unit.hypothesis_key(inputs_.pattern);
  if (outcome.screen && !is_infrastructure(outcome.verdict.klass)) {
    ++attempts_[hypothesis];
    if (screened_faster(outcome, inputs_.min_gain)) {
      gained_.insert(hypothesis);
    }
  }
  AttributionInputs attribution;
  attribution.min_gain = inputs_.min_gain;
  attribution.headroom = headroom();
  attribution.family_attempts = attempts_[hypothesis];
  attribution.family_gained = gained_.contains(hypothesis);
  const Label label = attribute(outcome, attribution);
  outcome.causal_label = to_string(label);
  learn(*posteriors_, label, hypothesis, unit.implementer_key());
  if (label == Label::kConfirmed) {
    best_gain_ = std::max(best_gain_, observed_gain(outcome));
  }
  if (label == Label::kNone) {
    // Never charged to the candidate: a later round may propose it again.
    seen_.erase(outcome.candidate);
    return;
  }
  cost_sum_ += outcome.compile_seconds + outcome.device_seconds;
  outcomes_.push_back(outcome);
}

void Echo::end_round() {
  ++round_;
  idle_rounds_ = best_gain_ > best_before_round_ + 0.5 * inputs_.min_gain ? 0 : idle_rounds_ + 1;
  if (finished()) {
    return;
  }
  if (saturated()) {
    stop_reason_ = "within 5 % of its floor";
  } else if (round_ >= inputs_.search.rounds_max) {
    stop_reason_ = "rounds used up";
  } else if (idle_rounds_ >= kIdleRoundsMax) {
    stop_reason_ = "rounds without promotion";
  }
}

void Echo::stop(const std::string& reason) {
  if (!finished()) {
    stop_reason_ = reason;
  }
}

const Candidate* Echo::candidate(const Digest& digest) const {
  const auto found = units_.find(digest);
  return found == units_.end() ? nullptr : &found->second.unit.candidate;
}

std::vector<const Outcome*> Echo::promising() const {
  std::vector<const Outcome*> result;
  for (const Outcome& outcome : outcomes_) {
    if (screened_faster(outcome, inputs_.min_gain)) {
      result.push_back(&outcome);
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const Outcome* a, const Outcome* b) {
    return lower_bound(*a->screen) > lower_bound(*b->screen);
  });
  return result;
}

}  // namespace fusefarm::search
