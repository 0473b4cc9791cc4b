// What must pass: an engine that rounds after every op, in every region class and distribution.
// What must fail: plausible wrong engines.
#include <string>

#include <gtest/gtest.h>

#include "tests/verify/region_fixture.h"

namespace fusefarm::verify {
namespace {

constexpr EngineOptions kUnfused{false, Mutation::kNone};

std::string describe(const CorrectnessRecord& record) {
  std::string text = record.distribution + " " + record.failure + " " + record.detail;
  for (const BoundaryError& error : record.outputs) {
    text += "\n  tensor " + error.tensor + " over " + std::to_string(error.worst_over_bound) +
            " norm " + std::to_string(error.relative_norm) + " of " +
            std::to_string(error.relative_norm_limit);
  }
  return text;
}

class HonestTest : public testing::TestWithParam<graph::DType> {};

TEST_P(HonestTest, TheUnfusedEnginePassesInEveryRegionClassAndDistribution) {
  const graph::Graph model = dense_model(graph::Phase::kDecode, GetParam());
  for (const RegionClass& region_class : dense_classes()) {
    const graph::Graph region = region_of(model, region_class);
    for (const Distribution distribution : all_distributions()) {
      const RegionCase region_case(model, region, decode_bindings(), {distribution, 11, true, 0});
      const CorrectnessRecord record = region_case.compare(region_case.image_of(kUnfused));
      EXPECT_TRUE(record.ok) << region_class.name << ": " << describe(record);
    }
  }
}

TEST_P(HonestTest, AFullyFusedEnginePassesInEveryRegionClass) {
  const graph::Graph model = dense_model(graph::Phase::kDecode, GetParam());
  for (const RegionClass& region_class : dense_classes()) {
    const RegionCase region_case(model, region_of(model, region_class), decode_bindings(),
                                 {Distribution::kHeavyTail, 5, false, 1});
    const CorrectnessRecord record = region_case.compare(region_case.image_of({}));
    EXPECT_TRUE(record.ok) << region_class.name << ": " << describe(record);
  }
}

TEST_P(HonestTest, TheUnfusedEnginePassesOnPrefillAndOnRouters) {
  const graph::Graph prefill = dense_model(graph::Phase::kPrefill, GetParam());
  const RegionCase whole(prefill, prefill, prefill_bindings(), {});
  const CorrectnessRecord record = whole.compare(whole.image_of(kUnfused));
  EXPECT_TRUE(record.ok) << describe(record);

  const graph::Graph moe = moe_model(GetParam());
  for (const Distribution distribution : all_distributions()) {
    for (const RegionClass& region_class :
         {RegionClass{"router", {"router_select"}},
          RegionClass{"routed", {"mlp.router", "router_select"}},
          RegionClass{"experts",
                      {"experts.gate_up_proj", "experts.silu_mul", "experts.down_proj",
                       "experts.finalize"}}}) {
      const RegionCase region_case(moe, region_of(moe, region_class), decode_bindings(),
                                   {distribution, 2, true, 0});
      const CorrectnessRecord routed = region_case.compare(region_case.image_of(kUnfused));
      EXPECT_TRUE(routed.ok) << region_class.name << ": " << describe(routed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, HonestTest,
                         testing::Values(graph::DType::kBF16, graph::DType::kF32),
                         [](const auto& c) { return std::string(to_string(c.param)); });

struct Mutant {
  const char* region;
  Mutation mutation;
  Distribution distribution;
};

class MutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, AWrongEngineFails) {
  const Mutant& mutant = GetParam();
  const graph::Graph model = dense_model(graph::Phase::kDecode, graph::DType::kBF16);
  for (const RegionClass& region_class : dense_classes()) {
    if (region_class.name != mutant.region) {
      continue;
    }
    const RegionCase region_case(model, region_of(model, region_class), decode_bindings(),
                                 {mutant.distribution, 21, false, 0});
    const CorrectnessRecord record =
        region_case.compare(region_case.image_of({false, mutant.mutation}));
    EXPECT_FALSE(record.ok) << mutant.region << ": " << describe(record);
  }
}

constexpr Mutant kMutants[] = {
    {"add_rmsnorm", Mutation::kNoEps, Distribution::kSmall},
    {"add_rmsnorm", Mutation::kNoResidual, Distribution::kNormal},
    {"add_rmsnorm", Mutation::kMeanWithoutLast, Distribution::kHeavyTile},
    {"embedding_norm", Mutation::kNoEps, Distribution::kNormal},
    {"qk_norm_rope_kv_write", Mutation::kInterleavedRope, Distribution::kNormal},
    {"qk_norm_rope_kv_write", Mutation::kWrongTheta, Distribution::kNormal},
    {"qk_norm_rope_kv_write", Mutation::kSlotOffByOne, Distribution::kNormal},
    {"qk_norm_rope_kv_write", Mutation::kNoEps, Distribution::kSmall},
    {"attention", Mutation::kNoScale, Distribution::kNormal},
    {"attention", Mutation::kSeesFuture, Distribution::kNormal},
    {"rope_attention", Mutation::kInterleavedRope, Distribution::kNormal},
    {"rope_attention", Mutation::kSlotOffByOne, Distribution::kNormal},
    {"silu_mul", Mutation::kSwappedGateUp, Distribution::kNormal},
    {"gate_up_silu_mul", Mutation::kSwappedGateUp, Distribution::kNormal},
    {"gate_up_silu_mul", Mutation::kDroppedDepth, Distribution::kHeavyTile},
    {"gate_up_silu_mul", Mutation::kLowAccuracy, Distribution::kNormal},
    {"norm_gate_up_silu_mul", Mutation::kDroppedDepth, Distribution::kHeavyTile},
    {"norm_gate_up_silu_mul", Mutation::kNoEps, Distribution::kSmall},
    {"mlp", Mutation::kSwappedGateUp, Distribution::kNormal},
    {"mlp", Mutation::kDroppedDepth, Distribution::kHeavyTile},
    {"mlp", Mutation::kNoResidual, Distribution::kNormal},
    {"down_residual", Mutation::kDroppedDepth, Distribution::kNormal},
    {"down_residual", Mutation::kLowAccuracy, Distribution::kNormal},
    {"norm_qkv_norm_rope", Mutation::kInterleavedRope, Distribution::kNormal},
    {"norm_qkv_norm_rope", Mutation::kDroppedDepth, Distribution::kHeavyTile},
    {"o_proj_residual", Mutation::kNoResidual, Distribution::kNormal},
    {"o_proj_residual", Mutation::kDroppedDepth, Distribution::kNormal},
    {"lm_head_argmax", Mutation::kDroppedDepth, Distribution::kHeavyTile},
    {"norm_lm_head_argmax", Mutation::kDroppedDepth, Distribution::kHeavyTile},
};

INSTANTIATE_TEST_SUITE_P(Mutants, MutantTest, testing::ValuesIn(kMutants), [](const auto& c) {
  return std::string(c.param.region) + "_" + std::to_string(c.index);
});

// Wrong results whatever the region: on the bytes of an honest one.
class OutputMutantTest : public testing::Test {
 protected:
  const graph::Graph model_ = dense_model(graph::Phase::kDecode, graph::DType::kBF16);

  std::span<std::byte> output(const RegionCase& c, std::vector<std::byte>& image, std::size_t i) {
    const graph::TensorId id = c.region().outputs[i];
    const auto bytes =
        static_cast<std::size_t>(graph::byte_count(c.region().tensor(id), c.bindings()));
    return std::span(image).subspan(static_cast<std::size_t>(c.layout().offset.at(id)), bytes);
  }
};

TEST_F(OutputMutantTest, ZerosConstantsAndUnwrittenTailsFailInEveryRegionClass) {
  for (const RegionClass& region_class : dense_classes()) {
    const RegionCase c(model_, region_of(model_, region_class), decode_bindings(), {});
    const std::vector<std::byte> honest = c.image_of(kUnfused);
    for (std::size_t i = 0; i < c.region().outputs.size(); ++i) {
      const bool state =
          graph::storage_of(c.region(), c.region().outputs[i]) != c.region().outputs[i];
      std::vector<std::byte> zero = honest;
      std::ranges::fill(output(c, zero, i), std::byte{0});
      EXPECT_FALSE(c.compare(zero).ok) << region_class.name;
      std::vector<std::byte> constant = honest;
      std::ranges::fill(output(c, constant, i), std::byte{0x3f});
      EXPECT_FALSE(c.compare(constant).ok) << region_class.name;
      if (state) {
        continue;
      }
      std::vector<std::byte> tail = honest;
      std::vector<std::byte> poison = c.pristine();
      const auto to = output(c, tail, i);
      const auto from = output(c, poison, i);
      std::copy(from.end() - 4, from.end(), to.end() - 4);
      const CorrectnessRecord record = c.compare(tail);
      EXPECT_FALSE(record.ok) << region_class.name;
      EXPECT_EQ(record.failure, "unwritten") << region_class.name;
    }
  }
}

TEST_F(OutputMutantTest, ADroppedLastTileANanAndAMutatedInputAreNamed) {
  const RegionCase c(model_, region_of(model_, dense_classes()[0]), decode_bindings(), {});
  const std::vector<std::byte> honest = c.image_of(kUnfused);
  std::vector<std::byte> tail = honest;
  std::ranges::fill(output(c, tail, 0).last(32), std::byte{0});
  EXPECT_EQ(c.compare(tail).failure, "tail");
  std::vector<std::byte> nan = honest;
  std::ranges::fill(output(c, nan, 0).first(2), std::byte{0xff});
  EXPECT_EQ(c.compare(nan).failure, "nonfinite");
  EXPECT_EQ(verdict_of(c.compare(nan)).klass, VerdictClass::kRejectWrong);
  EXPECT_TRUE(inputs_unchanged(c.comparison(honest)));
  std::vector<std::byte> mutated = honest;
  const auto at = static_cast<std::size_t>(c.layout().offset.at(c.region().inputs[0]));
  mutated[at + 5] ^= std::byte{1};
  EXPECT_FALSE(inputs_unchanged(c.comparison(mutated)));
}

TEST_F(OutputMutantTest, ACacheRowWithoutASlotMustKeepItsBits) {
  const RegionCase c(model_, region_of(model_, dense_classes()[2]), decode_bindings(), {});
  std::vector<std::byte> image = c.image_of(kUnfused);
  for (std::size_t i = 0; i < c.region().outputs.size(); ++i) {
    if (graph::storage_of(c.region(), c.region().outputs[i]) == c.region().outputs[i]) {
      continue;
    }
    output(c, image, i)[0] ^= std::byte{1};  // row 0 is history
    const CorrectnessRecord record = c.compare(image);
    EXPECT_EQ(record.failure, "state");
    EXPECT_EQ(verdict_of(record).klass, VerdictClass::kRejectOob);
    break;
  }
}

}  // namespace
}  // namespace fusefarm::verify
