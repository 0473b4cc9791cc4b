// One random schedule per region class and type; the sweep (generator_sweep_test.cc) runs many.
#include <gtest/gtest.h>

#include "tests/codegen/candidate_check.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;

class GeneratorTest : public testing::TestWithParam<DType> {};

TEST_P(GeneratorTest, EveryRegionClassIsRightForARandomSchedule) {
  constexpr std::int64_t kTokens[] = {1, 3, 8, 17, 64};
  std::size_t turn = GetParam() == DType::kF32 ? 0 : 2;
  for (const test::NamedRegion& region : test::all_regions(GetParam())) {
    ++turn;
    test::expect_random_schedule_right(region, GetParam(), kTokens[turn % std::size(kTokens)],
                                       turn);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GeneratorTest, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& type) { return graph::to_string(type.param); });

}  // namespace
}  // namespace fusefarm::codegen
