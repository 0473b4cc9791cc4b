#include "codegen/kernels/pack.h"

#include <gtest/gtest.h>

#include "base/bf16.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;

// Every element lies where panel_offset() and source_row() say, and padding is zero.
void expect_round_trip(const PreparedLayout& layout, std::int64_t n, std::int64_t k) {
  std::vector<std::uint16_t> weight(static_cast<std::size_t>(n * k));
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] = static_cast<std::uint16_t>(0x3f80 + i % 997);
  }
  const bool half = layout.dtype == DType::kBF16;
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(prepared_bytes(layout, n, k)), 0xff);
  for (int thread = 0; thread < 3; ++thread) {
    pack_weight(layout, weight.data(), DType::kBF16, n, k, packed.data(), thread, 3);
  }
  const auto element = [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    return half ? bf16_to_float(reinterpret_cast<const std::uint16_t*>(packed.data())[i])
                : reinterpret_cast<const float*>(packed.data())[i];
  };
  const PreparedShape shape = prepared_shape(layout, n, k);
  std::vector<int> seen(static_cast<std::size_t>(n), 0);
  for (std::int64_t panel = 0; layout.panel > 0 && panel < shape.rows; ++panel) {
    for (std::int64_t row = 0; row < layout.panel; ++row) {
      const std::int64_t source = source_row(layout, n, panel, row);
      for (std::int64_t column = 0; column < k; ++column) {
        const float expected =
            source < 0 ? 0.0F
                       : bf16_to_float(weight[static_cast<std::size_t>(source * k + column)]);
        ASSERT_EQ(element(panel * layout.panel * k + panel_offset(layout, row, column)), expected)
            << panel << " " << row << " " << column;
      }
      if (source >= 0) {
        ++seen[static_cast<std::size_t>(source)];
      }
    }
  }
  for (const int count : seen) {
    EXPECT_EQ(count, layout.panel > 0 ? 1 : 0);
  }
}

TEST(PackTest, EverySourceRowIsInExactlyOnePlaceOfAPanel) {
  for (const RowOrder order : {RowOrder::kLinear, RowOrder::kHalves}) {
    for (const std::int64_t panel : {8, 16, 24, 48}) {
      expect_round_trip({panel, order, DType::kBF16, false}, 88, 19);
      expect_round_trip({panel, order, DType::kF32, false}, 64, 7);
    }
    expect_round_trip({32, order, DType::kBF16, true}, 80, 33);
  }
}

TEST(PackTest, PairsHoldRowsEightApartInOneWord) {
  const PreparedLayout layout{16, RowOrder::kLinear, DType::kBF16, true};
  EXPECT_EQ(panel_offset(layout, 0, 0), 0);
  EXPECT_EQ(panel_offset(layout, 8, 0), 1);
  EXPECT_EQ(panel_offset(layout, 7, 0), 14);
  EXPECT_EQ(panel_offset(layout, 15, 2), 2 * 16 + 15);
}

TEST(PackTest, HalvesAlternateBetweenGateAndUp) {
  const PreparedLayout layout{16, RowOrder::kHalves, DType::kBF16, false};
  EXPECT_EQ(source_row(layout, 64, 0, 3), 3);
  EXPECT_EQ(source_row(layout, 64, 1, 3), 35);
  EXPECT_EQ(source_row(layout, 64, 2, 3), 19);
  EXPECT_EQ(source_row(layout, 40, 3, 4), -1);  // half of 40 is 20: rows 20.. are padding
}

TEST(PackTest, RowMajorLayoutOnlyConverts) {
  const std::vector<std::uint16_t> weight{0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0};
  std::vector<float> out(6);
  pack_weight({0, RowOrder::kLinear, DType::kF32, false}, weight.data(), DType::kBF16, 2, 3,
              out.data());
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace fusefarm::codegen
