#include "base/bf16.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace fusefarm {
namespace {

TEST(Bf16Test, EveryBitPatternSurvivesARoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = bf16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(value))));
    } else {
      EXPECT_EQ(float_to_bf16(value), bits);
    }
  }
}

TEST(Bf16Test, TiesGoToTheEvenNeighbour) {
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0F + 0x1p-8F)), 1.0F);
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F);
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0F + 0x1.2p-8F)), 1.0F + 0x1p-7F);
}

TEST(Bf16Test, OverflowRoundsToInfinityAndNanStaysNan) {
  EXPECT_TRUE(std::isinf(bf16_to_float(float_to_bf16(std::numeric_limits<float>::max()))));
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace fusefarm
