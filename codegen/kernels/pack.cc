#include "codegen/kernels/pack.h"

#include <algorithm>

#include "base/bf16.h"
#include "base/check.h"

namespace fusefarm::codegen {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

float load(const void* data, graph::DType dtype, std::int64_t index) {
  if (dtype == graph::DType::kBF16) {
    return bf16_to_float(static_cast<const std::uint16_t*>(data)[index]);
  }
  return static_cast<const float*>(data)[index];
}

void store(void* data, graph::DType dtype, std::int64_t index, float value) {
  if (dtype == graph::DType::kBF16) {
    static_cast<std::uint16_t*>(data)[index] = float_to_bf16(value);
  } else {
    static_cast<float*>(data)[index] = value;
  }
}

// One panel through blocks of columns, so that the source rows are read in cache lines and the
// panel is written in order.
template <class Source, class Target, class Convert>
void pack_panel(const PreparedLayout& layout, const Source* weight, std::int64_t n, std::int64_t k,
                std::int64_t panel, Target* out, const Convert& convert) {
  constexpr std::int64_t kColumns = 64;
  for (std::int64_t begin = 0; begin < k; begin += kColumns) {
    const std::int64_t end = std::min(k, begin + kColumns);
    for (std::int64_t row = 0; row < layout.panel; ++row) {
      const std::int64_t source = source_row(layout, n, panel, row);
      Target* target = out + panel_offset(layout, row, 0);
      for (std::int64_t column = begin; column < end; ++column) {
        target[column * layout.panel] =
            source < 0 ? Target{} : convert(weight[source * k + column]);
      }
    }
  }
}

void pack_panel(const PreparedLayout& layout, const void* weight, graph::DType dtype,
                std::int64_t n, std::int64_t k, std::int64_t panel, void* out) {
  const auto* half = static_cast<const std::uint16_t*>(weight);
  const auto* single = static_cast<const float*>(weight);
  const bool to_half = layout.dtype == graph::DType::kBF16;
  const std::int64_t start = panel * layout.panel * k;
  if (to_half) {
    std::uint16_t* target = static_cast<std::uint16_t*>(out) + start;
    if (dtype == graph::DType::kBF16) {
      pack_panel(layout, half, n, k, panel, target, [](std::uint16_t v) { return v; });
    } else {
      pack_panel(layout, single, n, k, panel, target, float_to_bf16);
    }
    return;
  }
  float* target = static_cast<float*>(out) + start;
  if (dtype == graph::DType::kBF16) {
    pack_panel(layout, half, n, k, panel, target, bf16_to_float);
  } else {
    pack_panel(layout, single, n, k, panel, target, [](float v) { return v; });
  }
}

}  // namespace

PreparedShape prepared_shape(const PreparedLayout& layout, std::int64_t n, std::int64_t k) {
  if (layout.panel == 0) {
    return {n, k};
  }
  if (layout.order == RowOrder::kHalves) {
    return {2 * ceil_div(n / 2, layout.panel), layout.panel * k};
  }
  return {ceil_div(n, layout.panel), layout.panel * k};
}

std::int64_t prepared_bytes(const PreparedLayout& layout, std::int64_t n, std::int64_t k) {
  const PreparedShape shape = prepared_shape(layout, n, k);
  return shape.rows * shape.columns * graph::bytes_of(layout.dtype);
}

std::int64_t source_row(const PreparedLayout& layout, std::int64_t n, std::int64_t panel,
                        std::int64_t row) {
  if (layout.order == RowOrder::kHalves) {
    const std::int64_t inside = panel / 2 * layout.panel + row;
    return inside < n / 2 ? panel % 2 * (n / 2) + inside : -1;
  }
  const std::int64_t source = panel * layout.panel + row;
  return source < n ? source : -1;
}

std::int64_t panel_offset(const PreparedLayout& layout, std::int64_t row, std::int64_t column) {
  std::int64_t place = row;
  if (layout.pair_interleave) {
    const std::int64_t inside = row % 16;
    place = row - inside + 2 * (inside % 8) + inside / 8;
  }
  return column * layout.panel + place;
}

void pack_weight(const PreparedLayout& layout, const void* weight, graph::DType dtype,
                 std::int64_t n, std::int64_t k, void* out, int thread, int threads) {
  FUSEFARM_CHECK(
      !layout.pair_interleave || (layout.panel % 16 == 0 && layout.dtype == graph::DType::kBF16),
      "pair interleave needs bf16 panels of a multiple of 16 rows");
  const PreparedShape shape = prepared_shape(layout, n, k);
  const std::int64_t first = shape.rows * thread / threads;
  const std::int64_t last = shape.rows * (thread + 1) / threads;
  if (layout.panel == 0) {
    for (std::int64_t i = first * k; i < last * k; ++i) {
      store(out, layout.dtype, i, load(weight, dtype, i));
    }
    return;
  }
  for (std::int64_t panel = first; panel < last; ++panel) {
    pack_panel(layout, weight, dtype, n, k, panel, out);
  }
}

}  // namespace fusefarm::codegen
