// Part of the comparison: a router's choice is right when rounding of the scores could lead to it.
#pragma once

#include <cstdint>
#include <string>

#include "verify/compare.h"

namespace fusefarm::verify {

struct RoutingCheck {
  std::int64_t failures = 0, like_poison = 0, worst_index = 0;
  double worst_over_bound = 0;
  std::string detail;
};

// `ids`: checks the chosen experts and their order (descending score, equal exact scores by the
// lower index); otherwise their weights, against the weights of the experts that were chosen.
RoutingCheck check_routing(const Comparison& comparison, const OracleRouting& routing, bool ids,
                           const TensorView& poison);

}  // namespace fusefarm::verify
