#include "verify/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bf16.h"
#include "base/check.h"
#include "base/random.h"

namespace fusefarm::verify {
namespace {

struct Name {
  Distribution distribution;
  const char* name;
};

constexpr Name kNames[] = {
    {Distribution::kNormal, "normal"},
    {Distribution::kUniform, "uniform"},
    {Distribution::kHeavyTail, "heavy_tail"},
    {Distribution::kCancellation, "cancellation"},
    {Distribution::kTies, "ties"},
    {Distribution::kOneHot, "one_hot"},
    {Distribution::kLarge, "large"},
    {Distribution::kSmall, "small"},
    {Distribution::kSubnormal, "subnormal"},
    {Distribution::kHeavyTile, "heavy_tile"},
};

// Student t, 3 degrees of freedom.
double heavy_tailed(Random& random) {
  const double z = random.normal();
  double chi2 = 0;
  for (int i = 0; i < 3; ++i) {
    const double n = random.normal();
    chi2 += n * n;
  }
  return z / std::sqrt(std::max(chi2, 1e-6) / 3);
}

double subnormal_or_not(Random& random) {
  switch (random.below(8)) {
    case 0:
      return std::copysign(0.0, random.uniform() - 0.5);
    case 1:
    case 2:
      return (random.uniform() - 0.5) * 0x1.0p-126;
    default:
      return random.normal();
  }
}

// Neighbours in a row, and the same element of consecutive tensors, have opposite signs.
double cancelling(Random& random, std::size_t column, std::uint64_t ordinal, double row_level) {
  const double sign = (column + ordinal) % 2 == 0 ? 1.0 : -1.0;
  return sign * row_level + 0x1.0p-6 * random.normal();
}

}  // namespace

const char* to_string(Distribution distribution) {
  for (const Name& entry : kNames) {
    if (entry.distribution == distribution) {
      return entry.name;
    }
  }
  return "?";
}

std::optional<Distribution> distribution_from(std::string_view name) {
  for (const Name& entry : kNames) {
    if (name == entry.name) {
      return entry.distribution;
    }
  }
  return std::nullopt;
}

std::vector<Distribution> all_distributions() {
  std::vector<Distribution> all;
  for (const Name& entry : kNames) {
    all.push_back(entry.distribution);
  }
  return all;
}

void store_element(std::span<std::byte> bytes, graph::DType dtype, std::size_t index,
                   double value) {
  if (dtype == graph::DType::kBF16) {
    const std::uint16_t bits = float_to_bf16(static_cast<float>(value));
    std::memcpy(bytes.data() + index * 2, &bits, 2);
  } else {
    const auto narrow = static_cast<float>(value);
    std::memcpy(bytes.data() + index * 4, &narrow, 4);
  }
}

void store_integer(std::span<std::byte> bytes, std::size_t index, std::int32_t value) {
  std::memcpy(bytes.data() + index * 4, &value, 4);
}

void fill_normal(std::span<std::byte> bytes, graph::DType dtype, std::size_t first,
                 std::size_t count, std::uint64_t key, double mean, double scale) {
  // Four uniform 16-bit lanes: mean 2 * 65535, variance 4 * (2^32 - 1) / 12.
  constexpr double kLanesDeviation = 37837.22657;
  const auto factor = static_cast<float>(scale / kLanesDeviation);
  const auto shift = static_cast<float>(mean);
  FUSEFARM_CHECK((first + count) * static_cast<std::size_t>(graph::bytes_of(dtype)) <= bytes.size(),
                 "fill outside of the tensor");
  const auto value_at = [&](std::size_t i) {
    std::uint64_t z = key + (i + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    const std::uint64_t pairs = (z & 0x0000ffff0000ffffULL) + ((z >> 16) & 0x0000ffff0000ffffULL);
    const auto sum = static_cast<std::int32_t>((pairs & 0xffffffffU) + (pairs >> 32));
    return shift + factor * static_cast<float>(sum - 131070);
  };
  if (dtype == graph::DType::kBF16) {
    for (std::size_t i = first; i < first + count; ++i) {
      const std::uint16_t bits = float_to_bf16(value_at(i));
      std::memcpy(bytes.data() + i * 2, &bits, 2);
    }
  } else {
    for (std::size_t i = first; i < first + count; ++i) {
      const float value = value_at(i);
      std::memcpy(bytes.data() + i * 4, &value, 4);
    }
  }
}

void fill_distribution(std::span<std::byte> bytes, graph::DType dtype, std::size_t count,
                       std::size_t width, Distribution distribution, std::uint64_t seed,
                       std::uint64_t ordinal) {
  if (distribution == Distribution::kNormal || distribution == Distribution::kLarge ||
      distribution == Distribution::kSmall) {
    const double scale = distribution == Distribution::kNormal  ? 1.0
                         : distribution == Distribution::kLarge ? 0x1.0p12
                                                                : 0x1.0p-10;
    fill_normal(bytes, dtype, 0, count, Random::keyed(seed, "tensor", ordinal).next(), 0, scale);
    return;
  }
  Random random = Random::keyed(seed, "tensor", ordinal);
  const std::size_t heavy_from = width - width / 16;
  std::size_t hot = 0;
  double level = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = i % width;
    if (column == 0) {
      hot = random.below(width);
      // Shared by the tensors of a launch, so that their sum cancels too.
      level = 1 + Random::keyed(seed, "level", i / width).uniform();
    }
    double value = 0;
    switch (distribution) {
      case Distribution::kUniform:
        value = 2 * random.uniform() - 1;
        break;
      case Distribution::kHeavyTail:
        value = heavy_tailed(random);
        break;
      case Distribution::kCancellation:
        value = cancelling(random, column, ordinal, level);
        break;
      case Distribution::kTies:
        value = 0.5 * (static_cast<double>(random.below(5)) - 2);
        break;
      case Distribution::kOneHot:
        value = column == hot || random.below(100) == 0 ? 1 + random.uniform() : 0;
        break;
      case Distribution::kSubnormal:
        value = subnormal_or_not(random);
        break;
      case Distribution::kHeavyTile:
        value = random.normal() * (column >= heavy_from ? 16 : 1);
        break;
      default:
        break;
    }
    store_element(bytes, dtype, i, value);
  }
}

}  // namespace fusefarm::verify
