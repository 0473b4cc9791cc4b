#include "search/posterior.h"

#include <algorithm>
#include <cmath>

namespace fusefarm::search {
namespace {

double gamma_draw(double shape, Random& random) {
  if (shape < 1) {
    // Boost: Gamma(a) = Gamma(a + 1) * U^(1/a).
    const double u = std::max(random.uniform(), 1e-300);
    return gamma_draw(shape + 1, random) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) {
      continue;
    }
    const double u = std::max(random.uniform(), 1e-300);
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

}  // namespace

double Beta::draw(Random& random) const {
  const double x = gamma_draw(alpha, random);
  const double y = gamma_draw(beta, random);
  return x + y > 0 ? x / (x + y) : mean();
}

Beta beta_prior(double mean, double strength) {
  const double m = std::clamp(mean, 0.02, 0.98);
  return Beta{strength * m, strength * (1 - m)};
}

Beta Posteriors::of(const std::string& key, const Beta& prior) const {
  const auto found = counts_.find(key);
  if (found == counts_.end()) {
    return prior;
  }
  return Beta{prior.alpha + found->second.alpha, prior.beta + found->second.beta};
}

void Posteriors::credit(const std::string& key, double success, double failure) {
  auto [entry, inserted] = counts_.try_emplace(key, Beta{0, 0});
  entry->second.alpha += success;
  entry->second.beta += failure;
}

}  // namespace fusefarm::search
