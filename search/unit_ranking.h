// Which units an ECHO round measures: value per cost by posterior draws, diversified by maximal
// marginal relevance (Carbonell and Goldstein 1998) under quotas per family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "records/hypothesis.h"
#include "search/posterior.h"

namespace fusefarm::search {

// A proposed unit with what is needed to value it.
struct PooledUnit {
  std::string proposer;
  Hypothesis hypothesis;
  Unit unit;
  Digest digest;  // of the candidate

  double predicted_gain() const { return 0.5 * (hypothesis.gain_lo + hypothesis.gain_hi); }

  std::string hypothesis_key(const std::string& pattern) const;
  std::string implementer_key() const;
};

struct RankInputs {
  double share = 1;      // of end-to-end time
  double best_gain = 0;  // log, of the best so far in this cell: only more than that counts
  double margin = 0.01;  // log
  // Predictions are of the whole region against its unfused form; this part of its time still is.
  double open_share = 1;
  double cost_seconds = 1;  // of one unit
  std::string pattern;
  std::uint64_t seed = 1;
  std::uint64_t decision = 0;  // keys the draws: region, workload and round
  std::size_t count_max = 8;
};

struct RankedUnit {
  std::size_t index = 0;  // into the pool
  double value = 0;       // expected share of serving time saved, per second
};

// V(u) = share x draw[p_family x p_implementer] x max(0, gain - margin) / cost. Every draw is keyed
// by (seed, decision, digest): an added unit changes no other's value.
std::vector<RankedUnit> rank_units(const std::vector<PooledUnit>& pool,
                                   const Posteriors& posteriors, const RankInputs& inputs);

double similarity(const PooledUnit& a, const PooledUnit& b);

}  // namespace fusefarm::search
