// Every region class, type and token count, several random schedules each.
#include <gtest/gtest.h>

#include "tests/codegen/candidate_check.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;

class GeneratorSweepTest : public testing::TestWithParam<std::tuple<DType, std::int64_t>> {};

TEST_P(GeneratorSweepTest, RandomSchedulesAreRight) {
  const auto [dtype, tokens] = GetParam();
  for (const test::NamedRegion& region : test::all_regions(dtype)) {
    for (std::uint64_t seed = 100; seed < 102; ++seed) {
      test::expect_random_schedule_right(region, dtype, tokens, seed);
      ASSERT_FALSE(HasFailure());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TypesAndTokens, GeneratorSweepTest,
                         testing::Combine(testing::Values(DType::kF32, DType::kBF16),
                                          testing::Values(1, 3, 8, 17, 64, 70)),
                         [](const auto& point) {
                           return std::string(graph::to_string(std::get<0>(point.param))) + "T" +
                                  std::to_string(std::get<1>(point.param));
                         });

}  // namespace
}  // namespace fusefarm::codegen
