#include <gtest/gtest.h>

#include "codegen/cpu_generator.h"
#include "tests/codegen/naive_evaluator.h"
#include "tests/codegen/program_executor.h"
#include "tests/codegen/region_fixtures.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;

constexpr int kThreads = 2;

std::string describe(const Schedule& schedule) {
  std::string text;
  for (const auto& [name, value] : schedule) {
    text += name + "=" + std::to_string(value) + " ";
  }
  return text;
}

// Compares every output of a candidate with the naive evaluation. One element of bf16 may be off by
// a few roundings, since a fused candidate skips interior ones.
void expect_right(const test::NamedRegion& region, DType dtype, const graph::Bindings& bindings,
                  const Candidate& candidate, std::uint64_t seed) {
  const LowerOptions options = test::options_for(region.graph, bindings);
  const auto lowered = lower_candidate(region.graph, candidate, options);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  std::vector<std::string> artifacts;
  if (!candidate.source.empty()) {
    artifacts.push_back(test::compile(candidate.source, candidate.flags));
  }
  const test::Values inputs = test::random_inputs(region.graph, bindings, seed);
  test::Values expected = inputs;
  test::evaluate(region.graph, bindings, expected);
  const test::Values actual =
      test::execute(region.graph, options, lowered.value(), artifacts, inputs, kThreads, seed);
  const double tolerance = dtype == DType::kBF16 ? 0x1p-5 : 2e-5;
  for (const graph::TensorId id : region.graph.outputs) {
    const DType type = region.graph.tensor(id).dtype;
    if (type == DType::kI32 && dtype == DType::kBF16 && region.name != "router") {
      continue;  // an argmax among rounded logits may pick a neighbour; f32 checks the choice
    }
    EXPECT_LE(test::worst_difference(actual.at(id), expected.at(id)),
              type == DType::kI32 ? 0.0 : tolerance)
        << region.name << " output " << id << " T=" << bindings.tokens << " "
        << graph::to_string(dtype) << " " << describe(candidate.schedule) << "\n"
        << candidate.source;
  }
}

class GeneratorTest : public testing::TestWithParam<DType> {};

TEST_P(GeneratorTest, EveryRegionClassIsRightForRandomSchedulesAndTokenCounts) {
  const std::vector<std::int64_t> token_counts{1, 3, 8, 17, 64};
  std::uint64_t seed = 1;
  for (const test::NamedRegion& region : test::all_regions(GetParam())) {
    const auto plan = match(region.graph);
    ASSERT_TRUE(plan) << region.name;
    for (const std::int64_t tokens : token_counts) {
      const graph::Bindings bindings = test::bindings_of(tokens);
      const ScheduleSpace space(region.graph, *plan, bindings, kThreads);
      Random random = Random::keyed(++seed, region.name);
      const Schedule schedule = space.sample(random);
      ASSERT_TRUE(space.valid(schedule));
      expect_right(region, GetParam(), bindings,
                   generate(region.graph, {}, *plan, schedule, kThreads, bindings), seed);
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GeneratorTest, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& type) { return graph::to_string(type.param); });

}  // namespace
}  // namespace fusefarm::codegen
