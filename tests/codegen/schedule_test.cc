#include "codegen/schedule.h"

#include <set>

#include <gtest/gtest.h>

#include "codegen/cpu_generator.h"
#include "tests/codegen/region_fixtures.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;

constexpr int kThreads = 2;

TEST(ScheduleSpaceTest, EveryClassHasHundredsOfValidPoints) {
  for (const test::NamedRegion& region : test::all_regions(DType::kBF16)) {
    const auto plan = match(region.graph);
    ASSERT_TRUE(plan);
    const ScheduleSpace space(region.graph, *plan, test::bindings_of(64), kThreads);
    EXPECT_GE(space.ranked(200).size(), 200U) << region.name;
  }
}

TEST(ScheduleSpaceTest, RankedPointsAreValidDistinctAndAscending) {
  for (const test::NamedRegion& region : test::all_regions(DType::kBF16)) {
    const auto plan = match(region.graph);
    const ScheduleSpace space(region.graph, *plan, test::bindings_of(8), kThreads);
    const std::vector<Schedule> ranked = space.ranked(40);
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front(), space.start());
    std::set<Schedule> distinct;
    double last = 0;
    for (const Schedule& schedule : ranked) {
      EXPECT_TRUE(space.valid(schedule));
      EXPECT_GE(space.predict(schedule).seconds, last);
      last = space.predict(schedule).seconds;
      distinct.insert(schedule);
    }
    EXPECT_EQ(distinct.size(), ranked.size());
  }
}

TEST(ScheduleSpaceTest, NeighboursAreValidAndDifferInOneParameter) {
  const auto region = test::all_regions(DType::kBF16)[5];
  const auto plan = match(region.graph);
  const ScheduleSpace space(region.graph, *plan, test::bindings_of(8), kThreads);
  const Schedule start = space.start();
  const std::vector<Schedule> near = space.neighbours(start);
  EXPECT_GE(near.size(), 4U);
  for (const Schedule& schedule : near) {
    EXPECT_TRUE(space.valid(schedule));
    int changed = 0;
    for (const auto& [name, value] : schedule) {
      changed += value != start.at(name) ? 1 : 0;
    }
    EXPECT_EQ(changed, 1);
  }
}

TEST(ScheduleSpaceTest, UnknownAndMissingParametersAreInvalid) {
  const auto region = test::all_regions(DType::kBF16)[0];
  const auto plan = match(region.graph);
  const ScheduleSpace space(region.graph, *plan, test::bindings_of(8), kThreads);
  Schedule schedule = space.start();
  schedule.erase(schedule.begin());
  EXPECT_FALSE(space.valid(schedule));
  schedule["no_such_parameter"] = 1;
  EXPECT_FALSE(space.valid(schedule));
  schedule = space.start();
  schedule.begin()->second = 12345;
  EXPECT_FALSE(space.valid(schedule));
}

TEST(ScheduleSpaceTest, FusionIsPredictedToSaveOverSeparateSteps) {
  for (const test::NamedRegion& region : test::all_regions(DType::kBF16)) {
    const auto plan = match(region.graph);
    const ScheduleSpace space(region.graph, *plan, test::bindings_of(8), kThreads);
    const Prediction prediction = space.predict(space.start());
    EXPECT_GT(prediction.seconds, 0) << region.name;
    EXPECT_GE(prediction.unfused_seconds, prediction.seconds) << region.name;
    EXPECT_GT(prediction.bytes, 0);
  }
}

TEST(GeneratorDeterminismTest, EqualInputsGiveEqualSourceAndPlan) {
  for (const test::NamedRegion& region : test::all_regions(DType::kBF16)) {
    const auto plan = match(region.graph);
    const graph::Bindings bindings = test::bindings_of(8);
    const ScheduleSpace space(region.graph, *plan, bindings, kThreads);
    Random random(3);
    const Schedule schedule = space.sample(random);
    const Candidate a = generate(region.graph, {}, *plan, schedule, kThreads, bindings);
    const Candidate b = generate(region.graph, {}, *plan, schedule, kThreads, bindings);
    EXPECT_EQ(a.source, b.source);
    EXPECT_EQ(a.plan, b.plan);
    EXPECT_EQ(a.digest(), b.digest());
    EXPECT_EQ(a.source.find("#include"), std::string::npos);
  }
}

TEST(PatternTest, ClassesGetTheirFamilies) {
  const std::map<std::string, std::string> expected{
      {"add_norm", "rowwise"},      {"heads_rows", "rowwise"},
      {"router", "router"},         {"qkv", "gemm_heads"},
      {"gate_up", "gemm_silu_mul"}, {"projection", "skinny_gemm"},
      {"head", "lm_head_argmax"},   {"last_rows_head", "lm_head_argmax"},
      {"chain", "gemm_chain"},      {"chain_to_heads", "gemm_chain"}};
  for (const test::NamedRegion& region : test::all_regions(DType::kBF16)) {
    const auto plan = match(region.graph);
    ASSERT_TRUE(plan) << region.name;
    if (expected.contains(region.name)) {
      EXPECT_EQ(plan->family, expected.at(region.name)) << region.name;
    }
  }
}

TEST(PatternTest, AttentionAndOddColumnsAreNotImplementable) {
  test::RegionBuilder attention(DType::kBF16);
  const graph::Dim all{graph::Symbol::kSlots, 1};
  const auto q = attention.input({graph::tokens(), graph::fixed(2), graph::fixed(32)});
  const auto k = attention.state({all, graph::fixed(2), graph::fixed(32)});
  const auto v = attention.state({all, graph::fixed(2), graph::fixed(32)});
  const auto positions = attention.input({graph::tokens()}, DType::kI32);
  const auto y = attention.op(graph::OpKind::kAttention, {q, k, v, positions},
                              {graph::tokens(), graph::fixed(64)}, DType::kBF16);
  EXPECT_FALSE(match(attention.finish({y})));
  test::RegionBuilder odd(DType::kBF16);
  const auto x = odd.input({graph::tokens(), graph::fixed(45)});
  EXPECT_FALSE(match(odd.finish({odd.add(x, x)})));
}

}  // namespace
}  // namespace fusefarm::codegen
