#include "search/builtin_proposer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/cpu_generator.h"
#include "codegen/pattern.h"

namespace fusefarm::search {
namespace {

// A point to try, and the claim it tests.
struct Point {
  codegen::Schedule schedule;
  std::string family;
  std::string mechanism;
  double observed_base = 0;  // log gain of the point it was derived from
};

std::string fusion_family(const codegen::RegionPlan& plan) { return "fuse_" + plan.family; }

// Name of the one parameter in which two schedules differ.
std::string changed_parameter(const codegen::Schedule& from, const codegen::Schedule& to) {
  for (const auto& [name, value] : to) {
    const auto other = from.find(name);
    if (other == from.end() || other->second != value) {
      return name;
    }
  }
  return "schedule";
}

class PointList {
 public:
  explicit PointList(std::size_t count_max) : count_max_(count_max) {}

  bool full() const { return points_.size() >= count_max_; }

  void add(Point point) {
    if (full() || !seen_.insert(point.schedule).second) {
      return;
    }
    points_.push_back(std::move(point));
  }

  std::vector<Point> take() { return std::move(points_); }

 private:
  std::size_t count_max_;
  std::set<codegen::Schedule> seen_;
  std::vector<Point> points_;
};

// The measured points of this cell, best screen estimate first.
struct Ranked {
  const codegen::Schedule* schedule;
  double gain;
};

void add_predicted(PointList& points, const std::vector<codegen::Schedule>& ranked,
                   const std::string& family, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) {
    points.add({ranked[i], family, "interior traffic and launches disappear"});
  }
}

void add_neighbours(PointList& points, const codegen::ScheduleSpace& space, const Ranked& best) {
  for (codegen::Schedule& schedule : space.neighbours(*best.schedule)) {
    const std::string parameter = changed_parameter(*best.schedule, schedule);
    points.add({std::move(schedule), "tune_" + parameter,
                "another " + parameter + " fits the caches and the issue width better", best.gain});
  }
}

void add_samples(PointList& points, const codegen::ScheduleSpace& space,
                 const ProposalContext& context, int count) {
  for (int i = 0; i < count && !points.full(); ++i) {
    Random random = Random::keyed(
        context.seed, "builtin-sample", context.signature.prefix(),
        static_cast<std::uint64_t>(context.round) * 1000 + static_cast<std::uint64_t>(i));
    points.add({space.sample(random), "explore", "the prediction ranks this region wrongly"});
  }
}

Plan plan_of(const Point& point, const codegen::Prediction& prediction, Candidate candidate,
             const Point* base, double base_seconds) {
  double gain =
      std::log(std::max(1e-12, prediction.unfused_seconds) / std::max(1e-12, prediction.seconds));
  if (base != nullptr) {
    gain = base->observed_base +
           std::log(std::max(1e-12, base_seconds) / std::max(1e-12, prediction.seconds));
  }
  Hypothesis hypothesis;
  hypothesis.family = point.family;
  hypothesis.mechanism = point.mechanism;
  hypothesis.gain_lo = std::min(0.5 * gain, gain);
  hypothesis.gain_hi = std::max(1.2 * gain, gain);
  hypothesis.targets.push_back({"steps", 0.5});
  hypothesis.falsifier = "no correct implementation of this family is faster by the margin";
  Plan plan;
  plan.hypotheses.push_back(std::move(hypothesis));
  plan.units.push_back({"whole", 0, std::move(candidate), {}});
  plan.rationale = point.family + ": " + point.mechanism;
  return plan;
}

}  // namespace

bool BuiltinProposer::can_implement(const graph::Graph& region) const {
  return codegen::match(region).has_value();
}

const std::vector<codegen::Schedule>& BuiltinProposer::ranked(const ProposalContext& context,
                                                              const codegen::ScheduleSpace& space,
                                                              std::size_t count) {
  const Workload& workload = context.workload;
  const Digest key = DigestBuilder()
                         .add(context.signature)
                         .add(static_cast<std::uint64_t>(workload.tokens))
                         .add(static_cast<std::uint64_t>(workload.batch))
                         .add(static_cast<std::uint64_t>(workload.context))
                         .add(static_cast<std::uint64_t>(context.threads))
                         .add(std::uint64_t{count})
                         .finish();
  const auto [entry, inserted] = ranked_.try_emplace(key);
  if (inserted) {
    entry->second = space.ranked(count);
  }
  return entry->second;
}

Result<std::vector<Plan>> BuiltinProposer::propose(const ProposalContext& context, int plans_max) {
  std::vector<Plan> plans;
  const std::optional<codegen::RegionPlan> matched = codegen::match(*context.region);
  if (!matched || plans_max <= 0) {
    return plans;
  }
  const graph::Bindings bindings = context.workload.bindings();
  const codegen::ScheduleSpace space(*context.region, *matched, bindings, context.threads, roofs_);

  std::vector<Ranked> best;
  for (const Outcome* outcome : context.history) {
    const auto made = made_.find(outcome->candidate);
    if (made != made_.end() && outcome->screen) {
      best.push_back({&made->second.schedule, outcome->screen->estimate});
    }
  }
  std::stable_sort(best.begin(), best.end(),
                   [](const Ranked& a, const Ranked& b) { return a.gain > b.gain; });

  const auto count = static_cast<std::size_t>(plans_max);
  PointList points(count);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, best.size()); ++i) {
    add_neighbours(points, space, best[i]);
  }
  // A quarter of the list is left to chance.
  add_predicted(points, ranked(context, space, count), fusion_family(*matched), count - count / 4);
  add_samples(points, space, context, plans_max);

  const double base_seconds = best.empty() ? 0 : space.predict(*best.front().schedule).seconds;
  for (const Point& point : points.take()) {
    Candidate candidate = codegen::generate(*context.region, context.signature, *matched,
                                            point.schedule, context.threads, bindings);
    candidate.origin = name();
    made_[candidate.digest()] = Made{point.schedule};
    const bool derived = !best.empty() && point.family.starts_with("tune_");
    plans.push_back(plan_of(point, space.predict(point.schedule), std::move(candidate),
                            derived ? &point : nullptr, base_seconds));
  }
  return plans;
}

}  // namespace fusefarm::search
