// Every region class, type and token count, several random schedules each.
#include <gtest/gtest.h>

#include "base/files.h"
#include "codegen/pattern.h"
#include "graph/model_import.h"
#include "graph/region.h"
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

// What a search really proposes: every class of regions of a small model that can be generated.
TEST(ModelRegionsTest, EveryGeneratedRegionOfAModelIsRight) {
  const std::string path = std::string(FUSEFARM_SOURCE_DIR) + "/configs/models/tiny-dense.json";
  const auto config = graph::parse_model_config(read_file(path).take(), path);
  ASSERT_TRUE(config.ok());
  graph::ImportOptions import;
  import.phase = graph::Phase::kPrefill;
  import.dtype = DType::kF32;
  const graph::Graph model = graph::build_model_graph(config.value(), import).take();
  graph::EnumerateOptions options;
  options.nodes_max = 6;
  options.may_contain = may_fuse;
  const auto sets = graph::enumerate_regions(model, options);
  std::uint64_t generated = 0;
  for (const graph::RegionClass& one : graph::classify_regions(model, sets)) {
    const auto cut = graph::extract_region(model, sets[one.occurrences.front()].nodes);
    ASSERT_TRUE(cut.ok());
    const graph::Graph region = graph::canonicalise(cut.value()).graph;
    if (!match(region)) {
      continue;
    }
    ++generated;
    test::expect_random_schedule_right({"class " + one.signature.short_hex(), region}, DType::kF32,
                                       generated % 2 == 0 ? 8 : 5, generated);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(generated, 50U);
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
