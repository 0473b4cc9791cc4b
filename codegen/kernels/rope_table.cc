#include "codegen/kernels/rope_table.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace fusefarm::codegen {

std::int64_t rope_rotary_dim(const graph::Attrs& attrs, std::int64_t head_dim) {
  const std::int64_t rotary = attrs.integer("rotary_dim", head_dim);
  return rotary == 0 ? head_dim : rotary;
}

std::vector<double> rope_frequencies(const graph::Attrs& attrs, std::int64_t head_dim) {
  const std::int64_t rotary = rope_rotary_dim(attrs, head_dim);
  const double theta = attrs.real("theta", 10000.0);
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < rotary / 2; ++i) {
    frequencies.push_back(
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotary)));
  }
  if (attrs.text("scaling") != "llama3") {
    return frequencies;
  }
  // Long wavelengths are stretched, short ones kept, in between interpolated (Llama 3.1).
  const double factor = attrs.real("scaling_factor", 1.0);
  const double low = attrs.real("low_freq_factor", 1.0);
  const double high = attrs.real("high_freq_factor", 4.0);
  const auto original = static_cast<double>(attrs.integer("original_max_position", 8192));
  for (double& frequency : frequencies) {
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    if (wavelength > original / low) {
      frequency /= factor;
    } else if (wavelength >= original / high) {
      const double smooth = (original / wavelength - low) / (high - low);
      frequency = (1.0 - smooth) * frequency / factor + smooth * frequency;
    }
  }
  return frequencies;
}

RopeTable::RopeTable(std::vector<double> frequencies, std::int64_t positions)
    : frequencies_(std::move(frequencies)), positions_(positions) {
  const std::int64_t width = 2 * half();
  values_.resize(static_cast<std::size_t>(positions_ * width));
  for (std::int64_t position = 0; position < positions_; ++position) {
    fill(position, values_.data() + position * width);
  }
}

const float* RopeTable::cosines(std::int64_t position, float* scratch) const {
  if (position >= 0 && position < positions_) {
    return values_.data() + position * 2 * half();
  }
  fill(position, scratch);
  return scratch;
}

void RopeTable::fill(std::int64_t position, float* out) const {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    const double angle = static_cast<double>(position) * frequencies_[i];
    out[i] = static_cast<float>(std::cos(angle));
    out[frequencies_.size() + i] = static_cast<float>(std::sin(angle));
  }
}

}  // namespace fusefarm::codegen
