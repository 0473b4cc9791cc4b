#include "verify/inputs.h"

#include <cmath>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "tests/verify/region_fixture.h"
#include "verify/distributions.h"
#include "verify/values.h"

namespace fusefarm::verify {
namespace {

TensorView view(const RegionCase& c, graph::TensorId id) {
  const graph::Tensor& tensor = c.region().tensor(id);
  return {tensor.dtype, graph::bound_shape(tensor, c.bindings()),
          std::span(c.pristine())
              .subspan(static_cast<std::size_t>(c.layout().offset.at(id)),
                       static_cast<std::size_t>(graph::byte_count(tensor, c.bindings())))};
}

graph::TensorId input_named(const graph::Graph& graph, const std::string& name) {
  for (const graph::TensorId id : graph.inputs) {
    if (graph.tensor(id).name == name) {
      return id;
    }
  }
  return graph::kNone;
}

TEST(InputsTest, PositionsAndSlotsAgreeAndLieInTheirSequences) {
  const graph::Graph model = dense_model(graph::Phase::kDecode, graph::DType::kBF16);
  for (const bool full : {true, false}) {
    const RegionCase c(model, model, decode_bindings(), {Distribution::kNormal, 9, full, 0});
    const TensorView positions = view(c, input_named(model, "positions"));
    const TensorView slots = view(c, input_named(model, "slots"));
    const TensorView ids = view(c, input_named(model, "token_ids"));
    const std::int64_t context = c.bindings().slots / c.bindings().sequences;
    for (std::size_t t = 0; t < 4; ++t) {
      const std::int32_t position = integer_at(positions, t);
      EXPECT_EQ(integer_at(slots, t), static_cast<std::int64_t>(t) * context + position);
      EXPECT_TRUE(position >= 0 && position < context);
      if (full) {
        EXPECT_EQ(position, context - 1);
      }
      EXPECT_TRUE(integer_at(ids, t) >= 0 && integer_at(ids, t) < 2048);
    }
  }
}

TEST(InputsTest, PrefillPositionsCountFromZero) {
  const graph::Graph model = dense_model(graph::Phase::kPrefill, graph::DType::kBF16);
  const RegionCase c(model, model, prefill_bindings(), {});
  const TensorView positions = view(c, input_named(model, "positions"));
  for (std::size_t t = 0; t < 6; ++t) {
    EXPECT_EQ(integer_at(positions, t), static_cast<std::int32_t>(t));
  }
}

TEST(InputsTest, RoutedExpertsAreDistinctAndExist) {
  const graph::Graph model = moe_model(graph::DType::kBF16);
  const RegionCase c(model, region_of(model, {"experts", {"experts.gate_up_proj"}}),
                     decode_bindings(), {});
  for (const graph::TensorId id : c.region().inputs) {
    if (c.region().tensor(id).dtype != graph::DType::kI32) {
      continue;
    }
    const TensorView ids = view(c, id);
    for (std::size_t t = 0; t < 4; ++t) {
      std::set<std::int32_t> row;
      for (std::size_t j = 0; j < 4; ++j) {
        row.insert(integer_at(ids, t * 4 + j));
      }
      EXPECT_EQ(row.size(), 4U);
      EXPECT_TRUE(*row.begin() >= 0 && *row.rbegin() < 16);
    }
  }
}

TEST(InputsTest, AnImageIsAFunctionOfItsSpecAndPoisonChangesOutputsOnly) {
  const graph::Graph model = dense_model(graph::Phase::kDecode, graph::DType::kBF16);
  const graph::Graph region = region_of(model, dense_classes()[0]);
  const auto image = [&](InputSpec spec) {
    return RegionCase(model, region, decode_bindings(), spec).pristine();
  };
  const InputSpec spec{Distribution::kHeavyTail, 4, true, 0};
  EXPECT_EQ(image(spec), image(spec));
  InputSpec poisoned = spec;
  poisoned.poison = 1;
  InputSpec reseeded = spec;
  reseeded.seed = 5;
  const RegionCase c(model, region, decode_bindings(), spec);
  const auto changed = [&](const InputSpec& other, graph::TensorId id) {
    const RegionCase d(model, region, decode_bindings(), other);
    const TensorView a = view(c, id);
    const TensorView b = view(d, id);
    return std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) != 0;
  };
  EXPECT_FALSE(changed(poisoned, region.inputs[0]));
  EXPECT_TRUE(changed(poisoned, region.outputs[0]));
  EXPECT_TRUE(changed(reseeded, region.inputs[0]));
}

TEST(InputsTest, WeightsAreTheSameInAnyNumberOfThreadsAndHaveTheirScale) {
  const graph::Graph model = dense_model(graph::Phase::kDecode, graph::DType::kBF16);
  const graph::WeightLayout layout = graph::weight_layout(model, decode_bindings());
  std::vector<std::byte> one(static_cast<std::size_t>(layout.bytes));
  std::vector<std::byte> two = one;
  fill_weights(model, layout, decode_bindings(), 3, one, 1);
  fill_weights(model, layout, decode_bindings(), 3, two, 3);
  EXPECT_EQ(one, two);
  for (const auto& [id, offset] : layout.offset) {
    const graph::Tensor& tensor = model.tensor(id);
    const auto count = static_cast<std::size_t>(graph::element_count(tensor, decode_bindings()));
    if (count < 10'000) {
      continue;
    }
    const TensorView w{
        tensor.dtype, {}, std::span(one).subspan(static_cast<std::size_t>(offset), count * 2)};
    double sum = 0;
    double square = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += element_at(w, i);
      square += element_at(w, i) * element_at(w, i);
    }
    const auto n = static_cast<double>(count);
    EXPECT_NEAR(std::sqrt(square / n) / tensor.init_scale, 1, 0.02) << tensor.name;
    EXPECT_LT(std::fabs(sum / n) / tensor.init_scale, 5 / std::sqrt(n)) << tensor.name;
  }
}

TEST(InputsTest, EveryDistributionHasItsCharacter) {
  constexpr std::size_t kRows = 8;
  constexpr std::size_t kWidth = 1024;
  const auto draw = [](Distribution distribution) {
    std::vector<std::byte> bytes(kRows * kWidth * 4);
    fill_distribution(bytes, graph::DType::kF32, kRows * kWidth, kWidth, distribution, 1, 1);
    std::vector<double> values(kRows * kWidth);
    load_elements({graph::DType::kF32, {}, bytes}, 0, values.size(), values.data());
    return values;
  };
  std::set<double> ties;
  for (const double v : draw(Distribution::kTies)) {
    ties.insert(v);
  }
  EXPECT_EQ(ties.size(), 5U);
  int subnormal = 0;
  for (const double v : draw(Distribution::kSubnormal)) {
    subnormal += v != 0 && std::fabs(v) < 0x1p-126;
  }
  EXPECT_GT(subnormal, 1000);
  int hot = 0;
  for (const double v : draw(Distribution::kOneHot)) {
    hot += v != 0;
  }
  EXPECT_TRUE(hot >= 8 && hot < 300);
  const std::vector<double> cancelling = draw(Distribution::kCancellation);
  double sum = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < kWidth; ++i) {
    sum += cancelling[i];
    magnitude += std::fabs(cancelling[i]);
  }
  EXPECT_LT(std::fabs(sum), 0.01 * magnitude);
  for (const Distribution distribution : all_distributions()) {
    EXPECT_EQ(distribution_from(to_string(distribution)), distribution);
    for (const double v : draw(distribution)) {
      ASSERT_TRUE(std::isfinite(v));
    }
  }
  EXPECT_EQ(distribution_from("gaussian"), std::nullopt);
}

TEST(InputsTest, PoolEntriesFollowFromTheArtifactAndTheSecret) {
  const Digest a = digest_of("a");
  const Digest b = digest_of("b");
  const std::vector<int> chosen = select_pool_entries(1, a, 4, 16);
  EXPECT_EQ(chosen, select_pool_entries(1, a, 4, 16));
  EXPECT_NE(chosen, select_pool_entries(1, b, 4, 16));
  EXPECT_NE(chosen, select_pool_entries(2, a, 4, 16));
  EXPECT_EQ(std::set<int>(chosen.begin(), chosen.end()).size(), 4U);
  EXPECT_EQ(select_pool_entries(1, a, 9, 3).size(), 3U);
}

}  // namespace
}  // namespace fusefarm::verify
