// Values to test and time with: weights of realistic scale and structured boundary inputs, all a
// pure function of a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "verify/oracle.h"

namespace fusefarm::verify {

enum class Distribution : std::uint8_t {
  kNormal,
  kUniform,
  kHeavyTail,     // Student t with 3 degrees of freedom
  kCancellation,  // alternating signs of nearly equal magnitude: sums almost vanish
  kTies,          // few distinct values, many duplicates
  kOneHot,        // 1 % of the elements, at least one a row
  kLarge,         // normal * 2^12
  kSmall,         // normal * 2^-10: epsilons matter
  kSubnormal,     // a share of elements below the smallest normal number, and signed zeros
  kHeavyTile,     // last 1/16 of each row * 16: dropping it is visible
};

const char* to_string(Distribution distribution);
std::optional<Distribution> distribution_from(std::string_view name);
std::vector<Distribution> all_distributions();

// Writes every weight of the graph at its offset; normal values are sums of four 16-bit lanes of
// one hashed counter (Irwin-Hall), so order and threads do not matter. bytes.size() >=
// layout.bytes.
void fill_weights(const graph::Graph& graph, const graph::WeightLayout& layout,
                  const graph::Bindings& bindings, std::uint64_t seed, std::span<std::byte> bytes,
                  int threads = 1);

struct InputSpec {
  Distribution distribution = Distribution::kNormal;
  std::uint64_t seed = 1;
  // Positions as in the workload: decode at the last slot of each sequence, several tokens a
  // sequence from 0. Otherwise random valid lengths.
  bool full_context = true;
  // 0, 1, ...: which plausible values stand in the outputs before a launch.
  int poison = 0;
  friend bool operator==(const InputSpec&, const InputSpec&) = default;
};

// Writes one launch set: inputs and state by the spec, every other tensor of the layout poisoned.
// Positions, slots (slot = b * S/B + position) and token ids are valid and consistent. Errors:
// kUnsupported for an i32 input whose meaning is unknown.
Result<void> fill_image(const graph::Graph& graph, const graph::Bindings& bindings,
                        const graph::BoundaryLayout& layout, const InputSpec& spec,
                        std::span<std::byte> image);

// Only the poison of fill_image: outputs that are not state. With `like`, values have the scale of
// that oracle's outputs.
void fill_poison(const graph::Graph& graph, const graph::Bindings& bindings,
                 const graph::BoundaryLayout& layout, const InputSpec& spec, const Evaluated* like,
                 std::span<std::byte> image);

// Views of the boundary inputs of an image and of the weights; `tensor_of` maps the region's weight
// tensors to those of the model whose layout `weights` has (empty: the same ids).
Result<TensorValues> view_inputs(const graph::Graph& graph, const graph::Bindings& bindings,
                                 const graph::BoundaryLayout& layout,
                                 std::span<const std::byte> image,
                                 const graph::WeightLayout& weight_layout,
                                 const std::vector<graph::TensorId>& tensor_of,
                                 std::span<const std::byte> weights);

// Which `count` of `pool_size` entries check a candidate: a keyed hash of its artifact's digest, so
// that the choice is fixed only after the build, and replayable. Distinct, count <= pool_size.
std::vector<int> select_pool_entries(std::uint64_t secret, const Digest& artifact, int count,
                                     int pool_size);

}  // namespace fusefarm::verify
