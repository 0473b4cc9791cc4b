#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "verify/contraction.h"
#include "verify/oracle_ops.h"

namespace fusefarm::verify {
namespace {

// Affinity of every expert of one token: sigmoid or softmax of its scores.
void fill_affinity(const Values& scores, std::size_t at, OracleRouting& routing) {
  const auto n = static_cast<std::size_t>(routing.experts);
  double top = -INFINITY;
  for (std::size_t e = 0; e < n; ++e) {
    top = std::max(top, scores.value[at + e]);
  }
  double sum = 0;
  double common = 0;  // softmax: relative change by all scores together
  for (std::size_t e = 0; e < n; ++e) {
    const double p = std::exp(scores.value[at + e] - top);
    sum += p;
    common += p * scores.tolerance_at(at + e);
  }
  for (std::size_t e = 0; e < n; ++e) {
    const double x = scores.value[at + e];
    const double t = scores.tolerance_at(at + e);
    const double y = routing.sigmoid ? 1 / (1 + std::exp(-x)) : std::exp(x - top) / sum;
    const double slope = routing.sigmoid ? y * (1 - y) * t : y * (t + common / sum);
    routing.affinity[at + e] = y;
    routing.affinity_tolerance[at + e] = slope + kElementwiseF32 * y + kUnderflow;
  }
}

struct GroupScore {
  double value = 0, tolerance = 0;
};

// The sum of a group's two best choices.
std::vector<GroupScore> group_scores(const OracleRouting& routing, std::size_t at) {
  const auto size = static_cast<std::size_t>(routing.experts / routing.groups);
  std::vector<GroupScore> scores;
  for (std::size_t g = 0; g < static_cast<std::size_t>(routing.groups); ++g) {
    const auto* v = routing.choice.data() + at + g * size;
    const auto* t = routing.choice_tolerance.data() + at + g * size;
    std::vector<double> best(v, v + size);
    std::partial_sort(best.begin(),
                      best.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, size)),
                      best.end(), std::greater<>());
    const double worst = *std::max_element(t, t + size);
    scores.push_back({size > 1 ? best[0] + best[1] : best[0], 2 * worst});
  }
  return scores;
}

// Indices by descending value, lower index first among equals.
template <class ValueOf>
std::vector<std::size_t> ranked(std::size_t count, ValueOf value_of) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return value_of(a) > value_of(b) || (value_of(a) == value_of(b) && a < b);
  });
  return order;
}

// Experts that may be chosen: all, or those of the best groups. Sets `ambiguous` when rounding can
// change which groups these are.
std::vector<bool> eligible_experts(const OracleRouting& routing, std::size_t at, bool& ambiguous) {
  const auto n = static_cast<std::size_t>(routing.experts);
  if (routing.groups <= 1 || routing.top_groups >= routing.groups) {
    return std::vector<bool>(n, true);
  }
  const std::vector<GroupScore> scores = group_scores(routing, at);
  const auto order = ranked(scores.size(), [&](std::size_t g) { return scores[g].value; });
  const auto kept = static_cast<std::size_t>(routing.top_groups);
  const std::size_t size = n / scores.size();
  std::vector<bool> eligible(n, false);
  for (std::size_t i = 0; i < kept; ++i) {
    std::fill_n(eligible.begin() + static_cast<std::ptrdiff_t>(order[i] * size), size, true);
    for (std::size_t j = kept; j < order.size(); ++j) {
      const GroupScore& in = scores[order[i]];
      const GroupScore& out = scores[order[j]];
      ambiguous |= in.value - in.tolerance <= out.value + out.tolerance &&
                   (in.tolerance > 0 || out.tolerance > 0);
    }
  }
  return eligible;
}

// Whether rounding may rank `out` before `in`. Bit-equal exact scores without a bias stay a tie.
bool may_swap(const OracleRouting& routing, const Values& scores, std::size_t in, std::size_t out) {
  if (routing.scores_exact && scores.value[in] == scores.value[out] &&
      routing.choice[in] == routing.choice[out]) {
    return false;
  }
  return routing.choice[in] - routing.choice_tolerance[in] <=
         routing.choice[out] + routing.choice_tolerance[out];
}

}  // namespace

void routing_weights(const OracleRouting& routing, std::size_t token,
                     std::span<const std::int32_t> ids, std::vector<double>& weight,
                     std::vector<double>& tolerance) {
  const std::size_t at = token * static_cast<std::size_t>(routing.experts);
  weight.clear();
  tolerance.clear();
  double sum = 0;
  double sum_tolerance = 0;
  for (const std::int32_t id : ids) {
    weight.push_back(routing.affinity[at + static_cast<std::size_t>(id)]);
    tolerance.push_back(routing.affinity_tolerance[at + static_cast<std::size_t>(id)]);
    sum += weight.back();
    sum_tolerance += tolerance.back();
  }
  for (std::size_t j = 0; j < weight.size(); ++j) {
    if (routing.renormalise && sum > 0) {
      const double share = weight[j] / sum;
      tolerance[j] = (tolerance[j] + share * sum_tolerance) / sum + 2 * kElementwiseF32 * share;
      weight[j] = share;
    }
    weight[j] *= routing.scale;
    tolerance[j] = tolerance[j] * routing.scale + kElementwiseF32 * weight[j];
  }
}

Routed router_select(const Values& scores, const Values* bias, OracleRouting& routing) {
  const auto n = static_cast<std::size_t>(routing.experts);
  const auto k = static_cast<std::size_t>(routing.top_k);
  const std::size_t tokens = scores.size() / n;
  routing.scores_exact = scores.exact();
  routing.affinity.resize(scores.size());
  routing.affinity_tolerance.resize(scores.size());
  Routed routed;
  routed.ids.shape = {static_cast<std::int64_t>(tokens), routing.top_k};
  routed.weights = make_values(graph::DType::kF32, routed.ids.shape);
  std::vector<double> weight;
  std::vector<double> tolerance;
  for (std::size_t t = 0; t < tokens; ++t) {
    fill_affinity(scores, t * n, routing);
  }
  routing.choice = routing.affinity;
  routing.choice_tolerance = routing.affinity_tolerance;
  for (std::size_t i = 0; bias != nullptr && i < routing.choice.size(); ++i) {
    routing.choice[i] += bias->value[i % n];
    routing.choice_tolerance[i] +=
        graph::unit_roundoff(graph::DType::kF32) * std::fabs(routing.choice[i]);
  }
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::size_t at = t * n;
    bool ambiguous = false;
    const std::vector<bool> eligible = eligible_experts(routing, at, ambiguous);
    const auto order = ranked(n, [&](std::size_t e) {
      return eligible[e] ? routing.choice[at + e] : -std::numeric_limits<double>::infinity();
    });
    std::vector<std::int32_t> ids;
    for (std::size_t j = 0; j < k; ++j) {
      ids.push_back(static_cast<std::int32_t>(order[j]));
    }
    for (std::size_t j = k; j < n && eligible[order[j]]; ++j) {
      for (std::size_t i = 0; i < k; ++i) {
        ambiguous |= may_swap(routing, scores, at + order[i], at + order[j]);
      }
    }
    routing.ambiguous.push_back(ambiguous);
    routing_weights(routing, t, ids, weight, tolerance);
    routed.ids.value.insert(routed.ids.value.end(), ids.begin(), ids.end());
    routed.ids.uncertain.push_back(ambiguous);
    for (std::size_t j = 0; j < k; ++j) {
      routed.weights.value[t * k + j] = weight[j];
      routed.weights.tolerance[t * k + j] = ambiguous ? INFINITY : tolerance[j];
      routed.weights.radius[t * k + j] = ambiguous ? INFINITY : tolerance[j];
    }
  }
  return routed;
}

Values expert_linear(const Values& x, const Integers& ids, const TensorView& weight,
                     graph::DType dtype, int threads) {
  const auto experts = static_cast<std::size_t>(weight.shape[0]);
  const auto n = static_cast<std::size_t>(weight.shape[1]);
  const auto k = static_cast<std::size_t>(weight.shape[2]);
  const auto top_k = static_cast<std::size_t>(ids.shape[1]);
  const bool expanded = x.rows() == ids.value.size();
  Values y = make_values(dtype, {static_cast<std::int64_t>(ids.value.size()), weight.shape[1]});
  for (std::size_t e = 0; e < experts; ++e) {
    std::vector<std::size_t> x_rows;
    std::vector<std::size_t> y_rows;
    for (std::size_t i = 0; i < ids.value.size(); ++i) {
      if (static_cast<std::size_t>(ids.value[i]) != e) {
        continue;
      }
      x_rows.push_back(expanded ? i : i / top_k);
      y_rows.push_back(i);
    }
    if (!x_rows.empty()) {
      contract(x, x_rows, {&weight, e * n, n, k}, y, y_rows, threads);
    }
  }
  for (std::size_t i = 0; i < ids.value.size(); ++i) {
    if (ids.uncertain.empty() || !ids.uncertain[i / top_k]) {
      continue;
    }
    std::fill_n(y.tolerance.begin() + static_cast<std::ptrdiff_t>(i * n), n, INFINITY);
    std::fill_n(y.radius.begin() + static_cast<std::ptrdiff_t>(i * n), n, INFINITY);
  }
  return y;
}

Values moe_finalize(const Values& y, const Values& weights, graph::DType dtype) {
  const std::size_t top_k = weights.width();
  const std::size_t width = y.width();
  Values out = make_values(dtype, {weights.shape[0], y.shape.back()});
  const double f32 =
      std::sqrt(static_cast<double>(top_k)) * graph::unit_roundoff(graph::DType::kF32);
  for (std::size_t t = 0; t < out.rows(); ++t) {
    for (std::size_t c = 0; c < width; ++c) {
      double sum = 0;
      double magnitude = 0;
      double linear = 0;
      double square = 0;
      for (std::size_t j = 0; j < top_k; ++j) {
        const std::size_t w = t * top_k + j;
        const std::size_t at = w * width + c;
        sum += weights.value[w] * y.value[at];
        magnitude += std::fabs(weights.value[w] * y.value[at]);
        linear += std::fabs(weights.value[w]) * y.tolerance_at(at) +
                  std::fabs(y.value[at]) * weights.tolerance_at(w);
        const double a = weights.value[w] * y.radius_at(at);
        const double b = y.value[at] * weights.radius_at(w);
        square += a * a + b * b;
      }
      const std::size_t to = t * width + c;
      out.value[to] = sum;
      out.tolerance[to] =
          std::min(linear, kConfidence * std::sqrt(square)) + kConfidence * f32 * magnitude;
      out.radius[to] = root_sum(std::sqrt(square), f32 * magnitude);
    }
  }
  return out;
}

}  // namespace fusefarm::verify
