#include "tests/codegen/candidate_check.h"

#include <gtest/gtest.h>

#include "codegen/cpu_generator.h"
#include "codegen/lower.h"
#include "tests/codegen/naive_evaluator.h"
#include "tests/codegen/program_executor.h"

namespace fusefarm::codegen::test {

using graph::DType;

namespace {

std::string describe(const Schedule& schedule) {
  std::string text;
  for (const auto& [name, value] : schedule) {
    text += name + "=" + std::to_string(value) + " ";
  }
  return text;
}

}  // namespace

void expect_right(const NamedRegion& region, DType dtype, const graph::Bindings& bindings,
                  const Candidate& candidate, std::uint64_t seed) {
  const LowerOptions options = options_for(region.graph, bindings);
  const auto lowered = lower_candidate(region.graph, candidate, options);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  std::vector<std::string> artifacts;
  if (!candidate.source.empty()) {
    artifacts.push_back(compile(candidate.source, candidate.flags));
  }
  const Values inputs = random_inputs(region.graph, bindings, seed);
  Values expected = inputs;
  evaluate(region.graph, bindings, expected);
  const Values actual =
      execute(region.graph, options, lowered.value(), artifacts, inputs, kThreads, seed);
  const double tolerance = dtype == DType::kBF16 ? 0x1p-5 : 2e-5;
  for (const graph::TensorId id : region.graph.outputs) {
    const DType type = region.graph.tensor(id).dtype;
    if (type == DType::kI32 && dtype == DType::kBF16 && region.name != "router") {
      continue;  // an argmax among rounded logits may pick a neighbour; f32 checks the choice
    }
    EXPECT_LE(worst_difference(actual.at(id), expected.at(id)),
              type == DType::kI32 ? 0.0 : tolerance)
        << region.name << " output " << id << " T=" << bindings.tokens << " "
        << graph::to_string(dtype) << " " << describe(candidate.schedule) << "\n"
        << candidate.source;
  }
}

void expect_random_schedule_right(const NamedRegion& region, DType dtype, std::int64_t tokens,
                                  std::uint64_t seed) {
  const auto plan = match(region.graph);
  ASSERT_TRUE(plan) << region.name;
  const graph::Bindings bindings = bindings_of(tokens);
  const ScheduleSpace space(region.graph, *plan, bindings, kThreads);
  Random random = Random::keyed(seed, region.name);
  const Schedule schedule = space.sample(random);
  ASSERT_TRUE(space.valid(schedule));
  expect_right(region, dtype, bindings,
               generate(region.graph, {}, *plan, schedule, kThreads, bindings), seed);
}

}  // namespace fusefarm::codegen::test
