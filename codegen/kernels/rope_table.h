// Rotary embedding: frequencies and a table of cos and sin per position.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/attrs.h"

namespace fusefarm::codegen {

// rotary_dim / 2 inverse frequencies, the "llama3" rescaling applied where the attributes ask for
// it.
std::vector<double> rope_frequencies(const graph::Attrs& attrs, std::int64_t head_dim);

// The rotated part of a head: attribute rotary_dim, or the whole head when it is absent or 0.
std::int64_t rope_rotary_dim(const graph::Attrs& attrs, std::int64_t head_dim);

class RopeTable {
 public:
  RopeTable(std::vector<double> frequencies, std::int64_t positions);

  // half() values each. Positions outside the table are computed into `scratch` (2 * half()
  // floats).
  const float* cosines(std::int64_t position, float* scratch) const;  // half() sines follow

  std::int64_t half() const { return static_cast<std::int64_t>(frequencies_.size()); }

 private:
  void fill(std::int64_t position, float* out) const;

  std::vector<double> frequencies_;
  std::int64_t positions_;
  std::vector<float> values_;  // [positions][cos half | sin half]
};

}  // namespace fusefarm::codegen
