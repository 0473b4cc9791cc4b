// Part of the reference engine: a router by definition, group after group, expert after expert.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "graph/attrs.h"

namespace fusefarm::verify {

struct NaiveRouting {
  std::vector<double> ids, weights;
};

// Experts outside of the `kept` best groups can't be chosen; a group's score is the sum of its two
// best.
template <class Real>
void drop_groups(std::vector<Real>& choice, std::size_t groups, std::size_t kept) {
  if (groups <= 1) {
    return;
  }
  const std::size_t size = choice.size() / groups;
  std::vector<Real> score(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto first = choice.begin() + static_cast<std::ptrdiff_t>(g * size);
    std::vector<Real> members(first, first + static_cast<std::ptrdiff_t>(size));
    std::sort(members.rbegin(), members.rend());
    score[g] = members[0] + members[1];
  }
  std::vector<std::size_t> order(groups);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return score[a] > score[b] || (score[a] == score[b] && a < b);
  });
  for (std::size_t i = kept; i < groups; ++i) {
    std::fill_n(choice.begin() + static_cast<std::ptrdiff_t>(order[i] * size), size,
                static_cast<Real>(-INFINITY));
  }
}

template <class Real>
std::vector<Real> naive_affinity(const double* scores, std::size_t experts, bool sigmoid) {
  std::vector<Real> affinity(experts);
  Real total = 0;
  for (std::size_t e = 0; e < experts; ++e) {
    const Real x = static_cast<Real>(scores[e]);
    affinity[e] = sigmoid ? Real{1} / (Real{1} + std::exp(-x)) : std::exp(x);
    total += affinity[e];
  }
  for (Real& a : affinity) {
    if (!sigmoid) {
      a /= total;
    }
  }
  return affinity;
}

template <class Real>
NaiveRouting naive_routing(const std::vector<double>& scores, std::size_t experts,
                           const std::vector<double>* bias, const graph::Attrs& attrs) {
  NaiveRouting routing;
  for (std::size_t row = 0; row < scores.size(); row += experts) {
    const std::vector<Real> affinity =
        naive_affinity<Real>(&scores[row], experts, attrs.text("function") == "sigmoid");
    std::vector<Real> choice = affinity;
    for (std::size_t e = 0; e < experts && bias != nullptr; ++e) {
      choice[e] += static_cast<Real>((*bias)[e]);
    }
    drop_groups(choice, static_cast<std::size_t>(attrs.integer("groups", 1)),
                static_cast<std::size_t>(attrs.integer("top_groups", 1)));
    std::vector<std::size_t> chosen;
    while (chosen.size() < static_cast<std::size_t>(attrs.integer("top_k"))) {
      std::size_t best = experts;
      for (std::size_t e = 0; e < experts; ++e) {
        if (std::find(chosen.begin(), chosen.end(), e) != chosen.end()) {
          continue;
        }
        if (best == experts || choice[e] > choice[best]) {
          best = e;
        }
      }
      chosen.push_back(best);
    }
    Real sum = 0;
    for (const std::size_t e : chosen) {
      sum += affinity[e];
    }
    for (const std::size_t e : chosen) {
      const Real share = attrs.integer("renormalise") != 0 ? affinity[e] / sum : affinity[e];
      routing.ids.push_back(static_cast<double>(e));
      routing.weights.push_back(
          static_cast<double>(share * static_cast<Real>(attrs.real("scale", 1))));
    }
  }
  return routing;
}

}  // namespace fusefarm::verify
