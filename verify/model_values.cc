#include "verify/model_values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "verify/values.h"

namespace fusefarm::verify {
namespace {

double relative_error(const Comparison& c, graph::TensorId id, const OracleTensor& oracle) {
  const graph::Tensor& tensor = c.graph->tensor(id);
  const TensorView y{
      tensor.dtype, oracle.shape,
      c.image.subspan(static_cast<std::size_t>(c.layout->offset.at(id)),
                      static_cast<std::size_t>(graph::byte_count(tensor, c.bindings)))};
  const auto width = static_cast<std::size_t>(oracle.row_width());
  double error2 = 0;
  double norm2 = 0;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const std::size_t at =
        oracle.state ? static_cast<std::size_t>(oracle.rows[i / width]) * width + i % width : i;
    const double difference = element_at(y, at) - oracle.value[i];
    error2 += difference * difference;
    norm2 += oracle.value[i] * oracle.value[i];
  }
  // Not-a-number anywhere gives not-a-number, which fails every comparison below.
  if (!(error2 > 0)) {
    return error2;
  }
  return norm2 > 0 ? std::sqrt(error2 / norm2) : INFINITY;
}

// Everything that the step may not write keeps its bits: inputs, and cache rows without a slot.
bool rest_unchanged(const Comparison& c) {
  if (!inputs_unchanged(c)) {
    return false;
  }
  for (const auto& [id, oracle] : c.oracle->tensors) {
    if (!oracle.state) {
      continue;
    }
    const auto row_bytes =
        static_cast<std::size_t>(oracle.row_width() * graph::bytes_of(oracle.dtype));
    const auto offset = static_cast<std::size_t>(c.layout->offset.at(id));
    const std::set<std::int64_t> written(oracle.rows.begin(), oracle.rows.end());
    for (std::int64_t row = 0; row < oracle.shape[0]; ++row) {
      if (written.contains(row)) {
        continue;
      }
      const std::size_t at = offset + static_cast<std::size_t>(row) * row_bytes;
      if (!std::equal(c.image.begin() + static_cast<std::ptrdiff_t>(at),
                      c.image.begin() + static_cast<std::ptrdiff_t>(at + row_bytes),
                      c.pristine.begin() + static_cast<std::ptrdiff_t>(at))) {
        return false;
      }
    }
  }
  return true;
}

std::int32_t layer_of(const graph::Graph& graph, graph::TensorId id) {
  const graph::Node* node = graph.producer(id);
  return node == nullptr ? -1 : node->layer;
}

// Oracle score of a token below the best one, in units of the logits' own error.
struct TokenGap {
  double gap = 0, logit_error = 0;
};

TokenGap gap_of(const OracleTensor& scores, std::size_t row, std::int32_t id, double error) {
  const auto width = static_cast<std::size_t>(scores.shape.back());
  const double* v = scores.value.data() + row * width;
  double top = v[0];
  double square = 0;
  for (std::size_t i = 0; i < width; ++i) {
    top = std::max(top, v[i]);
    square += v[i] * v[i];
  }
  const bool valid = id >= 0 && static_cast<std::size_t>(id) < width;
  return {valid ? top - v[id] : INFINITY, error * std::sqrt(square / static_cast<double>(width))};
}

void compare_tokens(const Comparison& before, const Comparison& after, const ModelRule& rule,
                    ModelComparison& result) {
  for (const auto& [id, scores] : before.oracle->scores) {
    const auto offset = static_cast<std::size_t>(before.layout->offset.at(id));
    const auto rows = scores.value.size() / static_cast<std::size_t>(scores.shape.back());
    const TensorView first{graph::DType::kI32, {}, before.image.subspan(offset, rows * 4)};
    const TensorView second{graph::DType::kI32, {}, after.image.subspan(offset, rows * 4)};
    for (std::size_t row = 0; row < rows; ++row) {
      ++result.tokens_compared;
      const std::int32_t token = integer_at(second, row);
      const bool flipped = token != integer_at(first, row);
      result.token_flips += flipped;
      const TokenGap gap = gap_of(scores, row, token, result.error_before);
      if (gap.gap <= rule.gap_factor * gap.logit_error) {
        continue;
      }
      // The predecessor's own choice may be far off as well; that is not the rewrite's doing.
      if (!flipped) {
        continue;
      }
      ++result.flips_unexcused;
      result.detail =
          fmt::format("row {}: token {} lies {:.3g} below the best logit, whose error is {:.3g}",
                      row, token, gap.gap, gap.logit_error);
    }
  }
  result.tokens_ok = result.flips_unexcused == 0;
}

}  // namespace

ModelComparison compare_model(const Comparison& before, const Comparison& after,
                              const ModelRule& rule) {
  ModelComparison result;
  result.values_ok = true;
  for (const auto& [id, oracle] : before.oracle->tensors) {
    TensorDeviation deviation;
    deviation.tensor = before.graph->tensor(id).name;
    deviation.layer = layer_of(*before.graph, id);
    deviation.error_before = relative_error(before, id, oracle);
    deviation.error_after = relative_error(after, id, oracle);
    const double absolute = rule.tolerance_factor * graph::unit_roundoff(oracle.dtype);
    deviation.ok =
        deviation.error_after <= std::max(absolute, rule.growth * deviation.error_before);
    if (!deviation.ok && result.values_ok) {
      result.values_ok = false;
      result.detail = fmt::format(
          "tensor {} ({}) of layer {}: relative error {:.3g}, before {:.3g}", id, deviation.tensor,
          deviation.layer, deviation.error_after, deviation.error_before);
    }
    result.error_before = std::max(result.error_before, deviation.error_before);
    result.error_after = std::max(result.error_after, deviation.error_after);
    result.deviations.push_back(std::move(deviation));
  }
  if (!rest_unchanged(after)) {
    result.values_ok = false;
    result.detail = "an input, or a cache row without a slot, was changed";
  }
  compare_tokens(before, after, rule, result);
  return result;
}

}  // namespace fusefarm::verify
