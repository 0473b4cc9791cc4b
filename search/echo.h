// ECHO, first cut: the search for an implementation of one region under one workload. Rounds of
// proposals, ranked and diversified; outcomes are attributed and teach the next round.
//
// Pure: the state is a function of the inputs and of the outcomes observed, in order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "records/campaign.h"
#include "records/proposer.h"
#include "search/posterior.h"
#include "search/unit_ranking.h"

namespace fusefarm::search {

struct EchoInputs {
  Digest signature;
  std::shared_ptr<const graph::Graph> region;  // shared with the jobs in flight
  std::string pattern;
  Workload workload;
  double share = 0;          // of end-to-end time, all occurrences
  double open_share = 1;     // of its time outside of regions accepted before
  double now_seconds = 0;    // one occurrence
  double floor_seconds = 0;  // one occurrence
  int threads = 1;
  double min_gain = 0.01;
  SearchSpec search;
};

struct RoundPlan {
  std::vector<Candidate> candidates;
  double value = 0;  // of its best unit: expected share of serving time saved, per second
};

class Echo {
 public:
  // `proposers` and `posteriors` are borrowed and outlive this.
  Echo(EchoInputs inputs, std::vector<Proposer*> proposers, Posteriors* posteriors);

  // Prepares the next round unless it is prepared already; empty when the cell is finished. The
  // candidates stay the same until begin_round() takes them.
  Result<const RoundPlan*> peek();
  // Takes the prepared round, at most `count_max` candidates of it.
  std::vector<Candidate> begin_round(std::size_t count_max);
  // The outcome of a candidate of a round, with the experiment's cost; fills in the causal label.
  void observe(Outcome& outcome);
  void end_round();
  // The budget ended, or the region was given up: no further rounds.
  void stop(const std::string& reason);

  bool finished() const { return !stop_reason_.empty(); }

  const std::string& stop_reason() const { return stop_reason_; }

  int rounds() const { return round_; }

  const EchoInputs& inputs() const { return inputs_; }

  const std::vector<Outcome>& outcomes() const { return outcomes_; }

  const Candidate* candidate(const Digest& digest) const;
  // Outcomes that a confirmation may be worth: correct, screened faster; best lower bound first.
  std::vector<const Outcome*> promising() const;

  double best_gain() const { return best_gain_; }

 private:
  Result<std::vector<PooledUnit>> pool();
  double cost_seconds() const;
  double headroom() const;
  bool saturated() const;

  EchoInputs inputs_;
  std::vector<Proposer*> proposers_;
  Posteriors* posteriors_;
  std::set<Digest> seen_;
  std::map<Digest, PooledUnit> units_;  // what was measured or is in flight
  std::map<std::string, int> attempts_;
  std::set<std::string> gained_;
  std::vector<Outcome> outcomes_;
  RoundPlan prepared_;
  std::vector<PooledUnit> prepared_units_;
  bool has_prepared_ = false;
  int round_ = 0;
  int idle_rounds_ = 0;
  double best_gain_ = 0;
  double best_before_round_ = 0;
  double cost_sum_ = 0;
  std::string stop_reason_;
};

}  // namespace fusefarm::search
