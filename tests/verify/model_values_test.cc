#include "verify/model_values.h"

#include <gtest/gtest.h>

#include "tests/verify/region_fixture.h"
#include "verify/distributions.h"

namespace fusefarm::verify {
namespace {

class ModelValuesTest : public testing::Test {
 protected:
  ModelValuesTest() {
    EvaluateOptions options;
    options.keep_scores = true;
    oracle_ = evaluate(model_, decode_bindings(), case_.inputs(), options).take();
  }

  Comparison comparison(const std::vector<std::byte>& image) const {
    Comparison c = case_.comparison(image);
    c.oracle = &oracle_;
    return c;
  }

  const graph::Graph model_ = dense_model(graph::Phase::kDecode, graph::DType::kBF16);
  const RegionCase case_{model_, model_, decode_bindings(), {Distribution::kNormal, 2, false, 0}};
  Evaluated oracle_;
  const std::vector<std::byte> unfused_ = case_.image_of({false, Mutation::kNone});
};

TEST_F(ModelValuesTest, TheSameAndAMoreExactEngineMayReplaceTheUnfusedOne) {
  for (const std::vector<std::byte>& after : {unfused_, case_.image_of({})}) {
    const ModelComparison result = compare_model(comparison(unfused_), comparison(after));
    EXPECT_TRUE(result.values_ok) << result.detail;
    EXPECT_TRUE(result.tokens_ok) << result.detail;
    EXPECT_EQ(result.tokens_compared, 4);
    EXPECT_EQ(result.deviations.size(), 2U);
    EXPECT_GT(result.error_before, 0);
    EXPECT_LT(result.error_before, 0.02);
  }
}

TEST_F(ModelValuesTest, AWrongEngineDiverges) {
  for (const Mutation mutation :
       {Mutation::kWrongTheta, Mutation::kSlotOffByOne, Mutation::kInterleavedRope}) {
    const std::vector<std::byte> wrong = case_.image_of({false, mutation});
    EXPECT_FALSE(compare_model(comparison(unfused_), comparison(wrong)).values_ok);
  }
}

TEST_F(ModelValuesTest, AChangedTokenWithAClearGapIsNotExcused) {
  std::vector<std::byte> flipped = unfused_;
  const auto at = static_cast<std::size_t>(case_.layout().offset.at(model_.outputs[0]));
  const std::int32_t best = oracle_.choices.at(model_.outputs[0]).acceptable[1].front();
  store_integer(std::span(flipped).subspan(at), 1, (best + 1) % 2048);
  ModelComparison result = compare_model(comparison(unfused_), comparison(flipped));
  EXPECT_EQ(result.token_flips, 1);
  EXPECT_EQ(result.flips_unexcused, 1);
  EXPECT_FALSE(result.tokens_ok);
  EXPECT_TRUE(result.values_ok);
  store_integer(std::span(flipped).subspan(at), 1, -5);
  result = compare_model(comparison(unfused_), comparison(flipped));
  EXPECT_FALSE(result.tokens_ok);
}

TEST_F(ModelValuesTest, AHistoryRowThatChangesFails) {
  std::vector<std::byte> image = unfused_;
  const auto at = static_cast<std::size_t>(case_.layout().offset.at(model_.outputs[1]));
  image[at] ^= std::byte{1};
  const ModelComparison result = compare_model(comparison(unfused_), comparison(image));
  EXPECT_FALSE(result.values_ok);
}

}  // namespace
}  // namespace fusefarm::verify
