// Compiled candidates over the schedule space, and the unfused baseline kernels: all are honest, so
// all must pass static check, artifact check and the comparison.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"
#include "codegen/cpu_generator.h"
#include "codegen/pattern.h"
#include "codegen/schedule.h"
#include "graph/region.h"
#include "tests/codegen/program_executor.h"
#include "tests/verify/region_fixture.h"
#include "verify/distributions.h"
#include "verify/elf_check.h"
#include "verify/static_check.h"
#include "verify/values.h"

namespace fusefarm::verify {
namespace {

namespace executor = codegen::test;

executor::Values inputs_of(const RegionCase& region_case) {
  executor::Values values;
  for (const auto& [id, view] : region_case.inputs()) {
    values[id].resize(count_of(view.shape));
    load_elements(view, 0, values[id].size(), values[id].data());
  }
  return values;
}

std::vector<std::byte> image_of(const RegionCase& region_case, const executor::Values& outputs) {
  std::vector<std::byte> image = region_case.pristine();
  for (const graph::TensorId id : region_case.region().outputs) {
    const graph::DType dtype = region_case.region().tensor(id).dtype;
    const auto part =
        std::span(image).subspan(static_cast<std::size_t>(region_case.layout().offset.at(id)));
    for (std::size_t i = 0; i < outputs.at(id).size(); ++i) {
      const double value = outputs.at(id)[i];
      if (dtype == graph::DType::kI32) {
        store_integer(part, i, static_cast<std::int32_t>(value));
      } else {
        store_element(part, dtype, i, value);
      }
    }
  }
  return image;
}

void expect_passes(const RegionCase& region_case, const codegen::Lowered& lowered,
                   const std::vector<std::string>& artifacts, const std::string& what) {
  const executor::Values outputs = executor::execute(
      region_case.region(), executor::options_for(region_case.region(), region_case.bindings()),
      lowered, artifacts, inputs_of(region_case), 2, 5);
  const CorrectnessRecord record = region_case.compare(image_of(region_case, outputs));
  EXPECT_TRUE(record.ok) << what << ", " << record.distribution << ": " << record.failure << ": "
                         << record.detail;
}

struct Sweep {
  graph::DType dtype;
  graph::Phase phase;
};

class HonestSweepTest : public testing::TestWithParam<Sweep> {};

constexpr Distribution kDistributions[] = {Distribution::kNormal,       Distribution::kHeavyTail,
                                           Distribution::kOneHot,       Distribution::kLarge,
                                           Distribution::kCancellation, Distribution::kSubnormal};

TEST_P(HonestSweepTest, BaselineKernelsAndGeneratedCandidatesPass) {
  const graph::Graph model = dense_model(GetParam().phase, GetParam().dtype);
  const graph::Bindings bindings =
      GetParam().phase == graph::Phase::kDecode ? decode_bindings() : prefill_bindings();
  constexpr int kCandidates = 6;
  Random random(3);
  for (const RegionClass& region_class : dense_classes()) {
    const graph::Graph region = region_of(model, region_class);
    const auto options = executor::options_for(region, bindings);
    for (const Distribution distribution : kDistributions) {
      const RegionCase region_case(model, region, bindings, {distribution, 8, false, 0});
      const auto lowered = codegen::lower(region, options);
      ASSERT_TRUE(lowered.ok()) << lowered.error().message;
      expect_passes(region_case, *lowered, {}, region_class.name + " baseline");
    }
    const auto plan = codegen::match(region);
    if (!plan) {
      continue;
    }
    const codegen::ScheduleSpace space(region, *plan, bindings, 2);
    for (int i = 0; i < kCandidates; ++i) {
      const Candidate candidate = codegen::generate(region, region_signature(region), *plan,
                                                    space.sample(random), 2, bindings);
      const auto refused = static_check(candidate, region, bindings);
      ASSERT_FALSE(refused.has_value()) << refused->detail;
      const std::string artifact = executor::compile(candidate.source, candidate.flags);
      const std::string file = read_file(artifact).take();
      const auto policy = elf_check(std::as_bytes(std::span(file.data(), file.size())),
                                    required_entries(candidate));
      EXPECT_FALSE(policy.has_value()) << policy->detail;
      const auto lowered = codegen::lower_candidate(region, candidate, options);
      ASSERT_TRUE(lowered.ok()) << lowered.error().message;
      const RegionCase region_case(model, region, bindings,
                                   {kDistributions[i], static_cast<std::uint64_t>(i), false, 1});
      expect_passes(region_case, *lowered, {artifact}, region_class.name + " " + candidate.family);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Quickstart, HonestSweepTest,
                         testing::Values(Sweep{graph::DType::kBF16, graph::Phase::kDecode},
                                         Sweep{graph::DType::kBF16, graph::Phase::kPrefill},
                                         Sweep{graph::DType::kF32, graph::Phase::kDecode}),
                         [](const auto& c) {
                           return std::string(to_string(c.param.dtype)) +
                                  (c.param.phase == graph::Phase::kDecode ? "_decode" : "_prefill");
                         });

}  // namespace
}  // namespace fusefarm::verify
