#include "verify/compare_routing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "verify/oracle_ops.h"
#include "verify/values.h"

namespace fusefarm::verify {
namespace {

// One token's choice. Offsets into the routing's tables.
struct Row {
  const OracleRouting* routing = nullptr;
  std::size_t at = 0;  // first element of the token in choice[]
  std::vector<std::int32_t> ids;

  double value(std::int32_t id) const { return routing->choice[at + static_cast<std::size_t>(id)]; }

  double tolerance(std::int32_t id) const {
    return routing->choice_tolerance[at + static_cast<std::size_t>(id)];
  }

  // `a` may stand before `b`.
  bool may_precede(std::int32_t a, std::int32_t b) const {
    if (routing->scores_exact && value(a) == value(b)) {
      return a < b;
    }
    return value(a) + tolerance(a) >= value(b) - tolerance(b);
  }
};

std::string id_problem(const Row& row) {
  const auto experts = static_cast<std::int32_t>(row.routing->experts);
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    const std::int32_t id = row.ids[j];
    if (id < 0 || id >= experts) {
      return "expert " + std::to_string(id) + " does not exist";
    }
    if (std::find(row.ids.begin(), row.ids.begin() + static_cast<std::ptrdiff_t>(j), id) !=
        row.ids.begin() + static_cast<std::ptrdiff_t>(j)) {
      return "expert " + std::to_string(id) + " is chosen twice";
    }
    if (j > 0 && !row.may_precede(row.ids[j - 1], id)) {
      return "expert " + std::to_string(id) + " stands behind a worse one";
    }
  }
  return "";
}

// Groups that the choice must come from, may come from: [certain, possible] per group.
struct Groups {
  std::vector<bool> certain, possible;
};

Groups groups_of(const Row& row) {
  const OracleRouting& routing = *row.routing;
  const auto count = static_cast<std::size_t>(routing.groups);
  Groups groups{std::vector<bool>(count, true), std::vector<bool>(count, true)};
  if (routing.groups <= 1 || routing.top_groups >= routing.groups) {
    return groups;
  }
  const std::size_t size = static_cast<std::size_t>(routing.experts) / count;
  std::vector<double> low(count);
  std::vector<double> high(count);
  for (std::size_t g = 0; g < count; ++g) {
    std::vector<double> best(size);
    double tolerance = 0;
    for (std::size_t i = 0; i < size; ++i) {
      best[i] = routing.choice[row.at + g * size + i];
      tolerance = std::max(tolerance, routing.choice_tolerance[row.at + g * size + i]);
    }
    std::sort(best.rbegin(), best.rend());
    const double score = size > 1 ? best[0] + best[1] : best[0];
    low[g] = score - 2 * tolerance;
    high[g] = score + 2 * tolerance;
  }
  for (std::size_t g = 0; g < count; ++g) {
    std::int64_t surely_better = 0;
    std::int64_t maybe_better = 0;
    for (std::size_t other = 0; other < count; ++other) {
      if (other == g) {
        continue;
      }
      surely_better += low[other] > high[g];
      maybe_better += high[other] >= low[g];
    }
    groups.possible[g] = surely_better < routing.top_groups;
    groups.certain[g] = maybe_better < routing.top_groups;
  }
  return groups;
}

std::string set_problem(const Row& row) {
  const Groups groups = groups_of(row);
  const std::size_t size = static_cast<std::size_t>(row.routing->experts) / groups.certain.size();
  for (const std::int32_t id : row.ids) {
    if (!groups.possible[static_cast<std::size_t>(id) / size]) {
      return "expert " + std::to_string(id) + " is in a group that is not chosen";
    }
  }
  for (std::int32_t other = 0; other < static_cast<std::int32_t>(row.routing->experts); ++other) {
    if (!groups.certain[static_cast<std::size_t>(other) / size] ||
        std::find(row.ids.begin(), row.ids.end(), other) != row.ids.end()) {
      continue;
    }
    for (const std::int32_t id : row.ids) {
      if (!row.may_precede(id, other)) {
        return "expert " + std::to_string(id) + " is chosen, the better " + std::to_string(other) +
               " is not";
      }
    }
  }
  return "";
}

TensorView routing_view(const Comparison& c, graph::TensorId id) {
  const graph::Tensor& tensor = c.graph->tensor(id);
  const auto found = c.layout->offset.find(id);
  if (found == c.layout->offset.end()) {
    return {};
  }
  return {tensor.dtype, graph::bound_shape(tensor, c.bindings),
          c.image.subspan(static_cast<std::size_t>(found->second),
                          static_cast<std::size_t>(graph::byte_count(tensor, c.bindings)))};
}

void note(RoutingCheck& check, std::size_t index, double over, const std::string& detail) {
  if (check.failures++ == 0) {
    check.worst_index = static_cast<std::int64_t>(index);
    check.detail = detail;
  }
  check.worst_over_bound = std::max(check.worst_over_bound, over);
}

}  // namespace

RoutingCheck check_routing(const Comparison& c, const OracleRouting& routing, bool ids,
                           const TensorView& poison) {
  RoutingCheck check;
  const auto k = static_cast<std::size_t>(routing.top_k);
  const TensorView id_view = routing_view(c, routing.ids);
  const TensorView weight_view = routing_view(c, routing.weights);
  const TensorView& y = ids ? id_view : weight_view;
  std::vector<double> weight;
  std::vector<double> tolerance;
  for (std::size_t t = 0; t < routing.ambiguous.size(); ++t) {
    Row row{&routing, t * static_cast<std::size_t>(routing.experts), {}};
    // Weights without visible ids can't be attributed where rounding may change the choice.
    if (id_view.bytes.empty()) {
      continue;
    }
    for (std::size_t j = 0; j < k; ++j) {
      row.ids.push_back(integer_at(id_view, t * k + j));
    }
    std::string problem = id_problem(row);
    const bool valid = problem.empty();
    const bool same =
        std::memcmp(y.bytes.data() + t * k * 4, poison.bytes.data() + t * k * 4, k * 4) == 0;
    if (ids) {
      if (valid) {
        problem = set_problem(row);
      }
      if (problem.empty()) {
        continue;
      }
      note(check, t * k, INFINITY, "token " + std::to_string(t) + ": " + problem);
      check.like_poison += same;
      continue;
    }
    if (!valid) {
      continue;
    }
    routing_weights(routing, t, row.ids, weight, tolerance);
    for (std::size_t j = 0; j < k; ++j) {
      const double u = graph::unit_roundoff(weight_view.dtype);
      const double bound = tolerance[j] + u * weight[j] + kUnderflow;
      const double over = std::fabs(element_at(weight_view, t * k + j) - weight[j]) / bound;
      if (over <= 1) {
        check.worst_over_bound = std::max(check.worst_over_bound, over);
        continue;
      }
      note(check, t * k + j, over, "weight " + std::to_string(t * k + j) + " is wrong");
      check.like_poison += same;
    }
  }
  return check;
}

}  // namespace fusefarm::verify
