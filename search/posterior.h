// What earlier outcomes say about success: Beta posteriors per pattern family, hypothesis family
// and implementer. Plain values, updated by outcomes only, so that a replay rebuilds them exactly.
#pragma once

#include <map>
#include <string>

#include "base/random.h"

namespace fusefarm::search {

struct Beta {
  double alpha = 1, beta = 1;

  double mean() const { return alpha / (alpha + beta); }

  // One Thompson draw (two gamma variates, Marsaglia and Tsang 2000).
  double draw(Random& random) const;
};

// A prior of `strength` pseudo-counts around `mean`.
Beta beta_prior(double mean, double strength = 2);

// Posteriors by key. A key that was never credited gives the prior that the caller names.
class Posteriors {
 public:
  Beta of(const std::string& key, const Beta& prior) const;
  // Adds pseudo-counts; fractions are allowed (a retry is weak evidence against a hypothesis).
  void credit(const std::string& key, double success, double failure);

  const std::map<std::string, Beta>& counts() const { return counts_; }

 private:
  std::map<std::string, Beta> counts_;  // of evidence alone, priors left out
};

}  // namespace fusefarm::search
