#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "verify/compare_routing.h"
#include "verify/distributions.h"
#include "verify/values.h"

namespace fusefarm::verify {
namespace {

// Limits of the norms, relative to what independent roundings at their bounds would give. Roundings
// to nearest are uniform at most: their root mean square is below 0.58 of the bound.
constexpr double kGlobalNorm = 1.5;
constexpr double kTileNorm = 2.5;
constexpr std::size_t kTileColumns = 64;

TensorView view_of(const Comparison& c, graph::TensorId id, std::span<const std::byte> image) {
  const graph::Tensor& tensor = c.graph->tensor(id);
  const auto bytes = static_cast<std::size_t>(graph::byte_count(tensor, c.bindings));
  return {tensor.dtype, graph::bound_shape(tensor, c.bindings),
          image.subspan(static_cast<std::size_t>(c.layout->offset.at(id)), bytes)};
}

enum class Element { kOk, kNumeric, kNonfinite };

struct Judged {
  Element element = Element::kOk;
  double over_bound = 0;  // |y - R| / tolerance
  double squared_error = 0;
};

Judged judge_element(double y, double exact, double tolerance, graph::DType dtype) {
  Judged judged;
  if (std::isnan(exact)) {
    judged.element = std::isnan(y) ? Element::kOk : Element::kNonfinite;
    return judged;
  }
  const double largest = largest_finite(dtype);
  const bool may_overflow = std::fabs(exact) + tolerance > largest;
  const bool must_overflow = std::fabs(exact) - tolerance > largest;
  if (!std::isfinite(y)) {
    const bool right_sign = !std::isnan(y) && std::signbit(y) == std::signbit(exact);
    judged.element = may_overflow && right_sign ? Element::kOk : Element::kNonfinite;
    return judged;
  }
  if (must_overflow) {
    judged.element = Element::kNonfinite;
    return judged;
  }
  if (std::isinf(tolerance)) {
    return judged;
  }
  const double error = std::fabs(y - exact);
  judged.squared_error = error * error;
  if (error > 0) {
    judged.over_bound = tolerance > 0 ? error / tolerance : INFINITY;
  }
  // The oracle's own rounding.
  if (judged.over_bound > 1 + 1e-6) {
    judged.element = Element::kNumeric;
  }
  return judged;
}

// Failures of one tensor, to name the kind.
struct Failures {
  std::int64_t numeric = 0, nonfinite = 0, like_poison = 0, in_tail = 0;

  std::int64_t total() const { return numeric + nonfinite; }
};

struct TensorCheck {
  BoundaryError error;
  Failures failures;
  bool tile_failed = false, state_failed = false;
  std::int64_t bad_tile_at = 0;
  std::string detail;
};

bool bits_equal(const TensorView& a, const TensorView& b, std::size_t index) {
  const auto width = static_cast<std::size_t>(graph::bytes_of(a.dtype));
  return std::memcmp(a.bytes.data() + index * width, b.bytes.data() + index * width, width) == 0;
}

void check_floats(const OracleTensor& oracle, const TensorView& y, const TensorView& poison,
                  TensorCheck& check) {
  const auto width = static_cast<std::size_t>(oracle.shape.back());
  const auto row_width = static_cast<std::size_t>(oracle.row_width());
  const std::size_t count = oracle.value.size();
  double error2 = 0;
  double norm2 = 0;
  double radius2 = 0;
  for (std::size_t tile = 0; tile < count;) {
    const std::size_t in_row = tile % width;
    const std::size_t columns = std::min(kTileColumns, width - in_row);
    double tile_error2 = 0;
    double tile_radius2 = 0;
    for (std::size_t i = tile; i < tile + columns; ++i) {
      // State holds only the written rows.
      const std::size_t at =
          oracle.state
              ? static_cast<std::size_t>(oracle.rows[i / row_width]) * row_width + i % row_width
              : i;
      const double value = element_at(y, at);
      const Judged judged =
          judge_element(value, oracle.value[i], oracle.tolerance[i], oracle.dtype);
      const bool counted = std::isfinite(oracle.tolerance[i]) && std::isfinite(oracle.value[i]);
      if (counted) {
        tile_error2 += judged.squared_error;
        tile_radius2 += oracle.radius[i] * oracle.radius[i];
        norm2 += oracle.value[i] * oracle.value[i];
      }
      if (judged.over_bound > check.error.worst_over_bound) {
        check.error.worst_over_bound = judged.over_bound;
        check.error.worst_index = static_cast<std::int64_t>(at);
      }
      if (judged.element == Element::kOk) {
        continue;
      }
      ++(judged.element == Element::kNumeric ? check.failures.numeric : check.failures.nonfinite);
      check.failures.like_poison += bits_equal(y, poison, at);
      const bool tail = i % width >= width - width / 8 || i >= count - count / 8;
      check.failures.in_tail += tail;
    }
    error2 += tile_error2;
    radius2 += tile_radius2;
    if (std::sqrt(tile_error2) > kTileNorm * std::sqrt(tile_radius2) && !check.tile_failed) {
      check.tile_failed = true;
      check.bad_tile_at = static_cast<std::int64_t>(tile);
    }
    tile += columns;
  }
  const double norm = std::sqrt(norm2);
  check.error.relative_norm = norm > 0 ? std::sqrt(error2) / norm : 0;
  check.error.relative_norm_limit = norm > 0 ? kGlobalNorm * std::sqrt(radius2) / norm : 0;
  check.error.failures = check.failures.total();
}

// Rows that the step does not write keep their bits.
void check_state_rest(const OracleTensor& oracle, const TensorView& y, const TensorView& before,
                      TensorCheck& check) {
  const auto row_bytes =
      static_cast<std::size_t>(oracle.row_width() * graph::bytes_of(oracle.dtype));
  std::size_t next = 0;
  for (std::int64_t row = 0; row < oracle.shape[0]; ++row) {
    if (next < oracle.rows.size() && oracle.rows[next] == row) {
      ++next;
      continue;
    }
    const std::size_t at = static_cast<std::size_t>(row) * row_bytes;
    if (std::memcmp(y.bytes.data() + at, before.bytes.data() + at, row_bytes) == 0) {
      continue;
    }
    check.state_failed = true;
    check.error.worst_index = row * oracle.row_width();
    check.detail = "row " + std::to_string(row) + " of the state was changed, but no slot names it";
    return;
  }
}

void check_choice(const OracleChoice& choice, const TensorView& y, const TensorView& poison,
                  TensorCheck& check) {
  for (std::size_t row = 0; row < choice.acceptable.size(); ++row) {
    const std::int32_t id = integer_at(y, row);
    const auto& good = choice.acceptable[row];
    if (std::binary_search(good.begin(), good.end(), id)) {
      continue;
    }
    if (check.failures.total() == 0) {
      check.error.worst_index = static_cast<std::int64_t>(row);
      check.detail = "row " + std::to_string(row) + " has index " + std::to_string(id) +
                     ", the oracle " + std::to_string(good.front());
    }
    check.error.worst_over_bound = INFINITY;
    ++check.failures.numeric;
    check.failures.like_poison += bits_equal(y, poison, row);
  }
  check.error.failures = check.failures.total();
}

std::string failure_of(const TensorCheck& check) {
  const std::int64_t total = check.failures.total();
  if (total > 0) {
    if (check.failures.like_poison * 10 >= total * 9) {
      return "unwritten";
    }
    if (check.failures.nonfinite > 0) {
      return "nonfinite";
    }
    return check.failures.in_tail == total ? "tail" : "numeric";
  }
  if (check.state_failed) {
    return "state";
  }
  const bool norm = check.error.relative_norm > check.error.relative_norm_limit;
  return norm || check.tile_failed ? "numeric" : "";
}

std::string detail_of(const TensorCheck& check, const TensorView& y, const OracleTensor* oracle) {
  if (!check.detail.empty()) {
    return check.detail;
  }
  if (check.failures.total() == 0) {
    return "error norm beyond its limit; first bad tile at element " +
           std::to_string(check.bad_tile_at);
  }
  std::string text = std::to_string(check.failures.total()) +
                     " elements beyond their bound, worst at " +
                     std::to_string(check.error.worst_index);
  if (oracle != nullptr) {
    text += ": " + std::to_string(element_at(y, static_cast<std::size_t>(check.error.worst_index)));
    if (!oracle->state) {
      const auto at = static_cast<std::size_t>(check.error.worst_index);
      text += " instead of " + std::to_string(oracle->value[at]) + " +- " +
              std::to_string(oracle->tolerance[at]);
    }
  }
  return text;
}

TensorCheck check_output(const Comparison& c, graph::TensorId id) {
  TensorCheck check;
  const TensorView y = view_of(c, id, c.image);
  const TensorView before = view_of(c, id, c.pristine);
  check.error.tensor = std::to_string(id);
  if (const auto found = c.oracle->choices.find(id); found != c.oracle->choices.end()) {
    check_choice(found->second, y, before, check);
    return check;
  }
  for (const OracleRouting& routing : c.oracle->routings) {
    if (routing.ids != id && routing.weights != id) {
      continue;
    }
    const RoutingCheck routed = check_routing(c, routing, id == routing.ids, before);
    check.failures.numeric = routed.failures;
    check.failures.like_poison = routed.like_poison;
    check.error.worst_index = routed.worst_index;
    check.error.worst_over_bound = routed.worst_over_bound;
    check.error.failures = routed.failures;
    check.detail = routed.detail;
    return check;
  }
  const OracleTensor& oracle = c.oracle->tensors.at(id);
  check_floats(oracle, y, before, check);
  if (oracle.state) {
    check_state_rest(oracle, y, before, check);
  }
  return check;
}

bool is_written(const Comparison& c, graph::TensorId storage) {
  return std::any_of(c.graph->outputs.begin(), c.graph->outputs.end(), [&](graph::TensorId id) {
    return id != storage && graph::storage_of(*c.graph, id) == storage;
  });
}

}  // namespace

CorrectnessRecord compare_outputs(const Comparison& c) {
  CorrectnessRecord record;
  record.ok = true;
  record.distribution = to_string(c.spec.distribution);
  record.seed = c.spec.seed;
  for (const graph::TensorId id : c.graph->outputs) {
    const TensorCheck check = check_output(c, id);
    record.outputs.push_back(check.error);
    const std::string failure = failure_of(check);
    if (failure.empty() || !record.ok) {
      continue;
    }
    record.ok = false;
    record.failure = failure;
    const auto oracle = c.oracle->tensors.find(id);
    record.detail = "output " + std::to_string(id) + ": " +
                    detail_of(check, view_of(c, id, c.image),
                              oracle == c.oracle->tensors.end() ? nullptr : &oracle->second);
  }
  return record;
}

bool inputs_unchanged(const Comparison& c) {
  for (const graph::TensorId id : c.graph->inputs) {
    if (c.graph->tensor(id).kind == graph::TensorKind::kWeight || is_written(c, id)) {
      continue;
    }
    const TensorView now = view_of(c, id, c.image);
    const TensorView before = view_of(c, id, c.pristine);
    if (std::memcmp(now.bytes.data(), before.bytes.data(), now.bytes.size()) != 0) {
      return false;
    }
  }
  return true;
}

bool outputs_equal(const Comparison& c, std::span<const std::byte> other) {
  for (const graph::TensorId id : c.graph->outputs) {
    const TensorView a = view_of(c, id, c.image);
    const TensorView b = view_of(c, id, other);
    if (std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) != 0) {
      return false;
    }
  }
  return true;
}

Verdict verdict_of(const CorrectnessRecord& record) {
  Verdict verdict;
  verdict.klass = VerdictClass::kRejectWrong;
  verdict.reason = record.failure;
  verdict.detail =
      record.distribution + ", seed " + std::to_string(record.seed) + ": " + record.detail;
  // A write outside of the named rows is memory that was not the candidate's to touch.
  if (record.failure == "state") {
    verdict.klass = VerdictClass::kRejectOob;
  } else if (record.failure == "mutation") {
    verdict.klass = VerdictClass::kRejectMutation;
  } else if (record.failure == "nondet") {
    verdict.klass = VerdictClass::kRejectNondet;
  } else if (record.failure == "stateful") {
    verdict.klass = VerdictClass::kRejectStateful;
  }
  return verdict;
}

}  // namespace fusefarm::verify
