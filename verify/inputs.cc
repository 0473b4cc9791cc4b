#include "verify/inputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/random.h"
#include "graph/region.h"
#include "verify/distributions.h"
#include "verify/oracle_ops.h"

namespace fusefarm::verify {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::TensorId;

enum class Meaning { kUnknown, kTokenIds, kPositions, kSlots, kExperts };

struct Role {
  Meaning meaning = Meaning::kUnknown;
  std::int64_t begin = 0, end = 0;  // valid ids
};

// What an integer tensor means, by its first reader or its producer.
Role role_of_reader(const Graph& graph, const Node& node, std::size_t input) {
  switch (node.op) {
    case OpKind::kEmbedding: {
      const std::int64_t begin = node.attrs.integer("vocab_begin");
      return {Meaning::kTokenIds, begin, begin + graph.tensor(node.inputs[1]).shape[0].factor};
    }
    case OpKind::kRope:
    case OpKind::kAttention:
      return {Meaning::kPositions, 0, 0};
    case OpKind::kKvWrite:
      return {Meaning::kSlots, 0, 0};
    case OpKind::kExpertLinear:
      return {Meaning::kExperts, 0, graph.tensor(node.inputs[2]).shape[0].factor};
    case OpKind::kRegion: {
      for (const Node& inner : node.body->nodes()) {
        for (std::size_t i = 0; i < inner.inputs.size(); ++i) {
          if (inner.inputs[i] != node.body->inputs[input]) {
            continue;
          }
          const Role role = role_of_reader(*node.body, inner, i);
          if (role.meaning != Meaning::kUnknown) {
            return role;
          }
        }
      }
      return {};
    }
    default:
      return {};
  }
}

Role role_of(const Graph& graph, TensorId id) {
  for (const graph::NodeId reader : graph.consumers(id)) {
    const Node& node = graph.node(reader);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != id) {
        continue;
      }
      const Role role = role_of_reader(graph, node, i);
      if (role.meaning != Meaning::kUnknown) {
        return role;
      }
    }
  }
  return {};
}

// Position of every token of the step, valid for the sequences' caches.
std::vector<std::int32_t> positions_of(const graph::Bindings& bindings, const InputSpec& spec) {
  const std::int64_t per_sequence = bindings.tokens / bindings.sequences;
  const std::int64_t context = bindings.slots / bindings.sequences;
  std::vector<std::int32_t> positions;
  for (std::int64_t b = 0; b < bindings.sequences; ++b) {
    const std::int64_t room = std::max<std::int64_t>(context - per_sequence, 0);
    std::int64_t start = per_sequence == 1 ? room : 0;
    if (!spec.full_context) {
      Random random = Random::keyed(spec.seed, "start", static_cast<std::uint64_t>(b));
      start = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(room) + 1));
    }
    for (std::int64_t i = 0; i < per_sequence; ++i) {
      positions.push_back(static_cast<std::int32_t>(start + i));
    }
  }
  return positions;
}

std::vector<std::int32_t> distinct_ids(Random& random, const Role& role, std::size_t count) {
  std::vector<std::int32_t> ids;
  while (ids.size() < count) {
    const auto id = static_cast<std::int32_t>(
        role.begin +
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(role.end - role.begin))));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      ids.push_back(id);
    }
  }
  return ids;
}

void fill_ids(const Role& role, std::size_t rows, std::size_t width, Random random,
              std::span<std::byte> bytes) {
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<std::int32_t> ids = distinct_ids(random, role, width);
    for (std::size_t i = 0; i < width; ++i) {
      store_integer(bytes, row * width + i, ids[i]);
    }
  }
}

Result<void> fill_integers(const Graph& graph, const graph::Bindings& bindings, TensorId id,
                           const InputSpec& spec, std::uint64_t ordinal,
                           std::span<std::byte> bytes) {
  const Role role = role_of(graph, id);
  const std::vector<std::int64_t> shape = graph::bound_shape(graph.tensor(id), bindings);
  if (role.meaning == Meaning::kPositions || role.meaning == Meaning::kSlots) {
    const std::vector<std::int32_t> positions = positions_of(bindings, spec);
    const std::int64_t per_sequence = bindings.tokens / bindings.sequences;
    const std::int64_t context = bindings.slots / bindings.sequences;
    for (std::size_t t = 0; t < positions.size(); ++t) {
      const std::int64_t base = role.meaning == Meaning::kSlots
                                    ? static_cast<std::int64_t>(t) / per_sequence * context
                                    : 0;
      store_integer(bytes, t, static_cast<std::int32_t>(base) + positions[t]);
    }
    return {};
  }
  const bool experts = role.meaning == Meaning::kExperts;
  const auto width = experts ? static_cast<std::size_t>(shape.back()) : std::size_t{1};
  if (role.meaning == Meaning::kUnknown ||
      role.end - role.begin < static_cast<std::int64_t>(width)) {
    return Error{ErrorCode::kUnsupported, "input tensor " + std::to_string(id) +
                                              " is i32, but nothing that reads it says what its "
                                              "values mean"};
  }
  fill_ids(role, count_of(shape) / width, width, Random::keyed(spec.seed, "ids", ordinal), bytes);
  return {};
}

std::span<std::byte> part_of(std::span<std::byte> image, std::int64_t offset, std::int64_t bytes) {
  FUSEFARM_CHECK(offset >= 0 && offset + bytes <= static_cast<std::int64_t>(image.size()),
                 "tensor outside of its image");
  return image.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
}

// Ids that a computed integer tensor may plausibly hold.
Role role_of_producer(const Graph& graph, TensorId id) {
  const Node* node = graph.producer(id);
  if (node == nullptr) {
    return {};
  }
  if (node->op == OpKind::kRegion) {
    const auto at =
        std::find(node->outputs.begin(), node->outputs.end(), id) - node->outputs.begin();
    return role_of_producer(*node->body, node->body->outputs[static_cast<std::size_t>(at)]);
  }
  return {Meaning::kExperts, 0, graph.tensor(node->inputs[0]).shape.back().factor};
}

double scale_of(const Evaluated* like, TensorId id) {
  if (like == nullptr || !like->tensors.contains(id)) {
    return 1;
  }
  const OracleTensor& tensor = like->tensors.at(id);
  double square = 0;
  for (const double v : tensor.value) {
    square += v * v;
  }
  const double rms =
      std::sqrt(square / static_cast<double>(std::max<std::size_t>(tensor.value.size(), 1)));
  return std::isfinite(rms) && rms > 0 ? rms : 1;
}

}  // namespace

void fill_weights(const Graph& graph, const graph::WeightLayout& layout,
                  const graph::Bindings& bindings, std::uint64_t seed, std::span<std::byte> bytes,
                  int threads) {
  constexpr std::size_t kChunk = 1U << 20;  // elements

  struct Piece {
    TensorId id;
    std::size_t first, count;
  };

  std::vector<Piece> pieces;
  for (const auto& [id, offset] : layout.offset) {
    const auto count = static_cast<std::size_t>(graph::element_count(graph.tensor(id), bindings));
    for (std::size_t first = 0; first < count; first += kChunk) {
      pieces.push_back({id, first, std::min(kChunk, count - first)});
    }
  }
  run_parallel(pieces.size(), threads, [&](std::size_t i) {
    const Piece& piece = pieces[i];
    const graph::Tensor& tensor = graph.tensor(piece.id);
    const auto key = Random::keyed(seed, "weight", static_cast<std::uint64_t>(piece.id)).next();
    const double mean = tensor.init == graph::Init::kAroundOne ? 1 : 0;
    fill_normal(part_of(bytes, layout.offset.at(piece.id), graph::byte_count(tensor, bindings)),
                tensor.dtype, piece.first, piece.count, key, mean, tensor.init_scale);
  });
}

void fill_poison(const Graph& graph, const graph::Bindings& bindings,
                 const graph::BoundaryLayout& layout, const InputSpec& spec, const Evaluated* like,
                 std::span<std::byte> image) {
  for (const auto& [id, offset] : layout.offset) {
    const bool is_input =
        std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
    if (is_input || graph::storage_of(graph, id) != id) {
      continue;
    }
    const graph::Tensor& tensor = graph.tensor(id);
    const auto bytes = part_of(image, offset, graph::byte_count(tensor, bindings));
    const auto count = static_cast<std::size_t>(graph::element_count(tensor, bindings));
    Random random = Random::keyed(spec.seed, "poison", static_cast<std::uint64_t>(id),
                                  static_cast<std::uint64_t>(spec.poison));
    if (tensor.dtype != graph::DType::kI32) {
      fill_normal(bytes, tensor.dtype, 0, count, random.next(), 0, scale_of(like, id));
      continue;
    }
    const Role role = role_of_producer(graph, id);
    const bool rows_of_ids = tensor.shape.size() > 1;
    const auto width = rows_of_ids ? static_cast<std::size_t>(tensor.shape.back().factor) : 1;
    if (role.end >= static_cast<std::int64_t>(width)) {
      fill_ids(role, count / width, width, random, bytes);
    }
  }
}

Result<void> fill_image(const Graph& graph, const graph::Bindings& bindings,
                        const graph::BoundaryLayout& layout, const InputSpec& spec,
                        std::span<std::byte> image) {
  if (bindings.sequences < 1 || bindings.tokens % bindings.sequences != 0) {
    return Error{ErrorCode::kInvalidArgument, "tokens are not shared evenly by the sequences"};
  }
  std::uint64_t ordinal = 0;
  for (const TensorId id : graph.inputs) {
    const graph::Tensor& tensor = graph.tensor(id);
    if (tensor.kind == graph::TensorKind::kWeight) {
      continue;
    }
    ++ordinal;
    const auto bytes = part_of(image, layout.offset.at(id), graph::byte_count(tensor, bindings));
    if (tensor.dtype == graph::DType::kI32) {
      TRY(fill_integers(graph, bindings, id, spec, ordinal, bytes));
      continue;
    }
    // Cached keys and values are history, not this step's input: always plausible.
    const bool cache = !tensor.shape.empty() && tensor.shape[0].symbol == graph::Symbol::kSlots;
    const auto count = static_cast<std::size_t>(graph::element_count(tensor, bindings));
    const auto width = static_cast<std::size_t>(bindings.of(tensor.shape.back()));
    fill_distribution(bytes, tensor.dtype, count, width,
                      cache ? Distribution::kNormal : spec.distribution, spec.seed, ordinal);
  }
  fill_poison(graph, bindings, layout, spec, nullptr, image);
  return {};
}

Result<TensorValues> view_inputs(const Graph& graph, const graph::Bindings& bindings,
                                 const graph::BoundaryLayout& layout,
                                 std::span<const std::byte> image,
                                 const graph::WeightLayout& weight_layout,
                                 const std::vector<TensorId>& tensor_of,
                                 std::span<const std::byte> weights) {
  TensorValues values;
  std::vector<TensorId> read = graph.inputs;
  // A model's weights are not among its boundary inputs.
  for (const auto& [id, tensor] : graph.tensors()) {
    if (tensor.kind == graph::TensorKind::kWeight) {
      read.push_back(id);
    }
  }
  for (const TensorId id : read) {
    const graph::Tensor& tensor = graph.tensor(id);
    const bool is_weight = tensor.kind == graph::TensorKind::kWeight;
    const auto index = static_cast<std::size_t>(id);
    const auto& offsets = is_weight ? weight_layout.offset : layout.offset;
    const std::span<const std::byte> memory = is_weight ? weights : image;
    TensorId place = id;
    if (is_weight && !tensor_of.empty()) {
      place = index < tensor_of.size() ? tensor_of[index] : graph::kNone;
    }
    const auto found = offsets.find(place);
    const std::int64_t bytes = graph::byte_count(tensor, bindings);
    if (found == offsets.end() ||
        found->second + bytes > static_cast<std::int64_t>(memory.size())) {
      return Error{ErrorCode::kInvalidArgument,
                   "input tensor " + std::to_string(id) + " has no place in memory"};
    }
    values[id] = {
        tensor.dtype, graph::bound_shape(tensor, bindings),
        memory.subspan(static_cast<std::size_t>(found->second), static_cast<std::size_t>(bytes))};
  }
  return values;
}

std::vector<int> select_pool_entries(std::uint64_t secret, const Digest& artifact, int count,
                                     int pool_size) {
  std::vector<int> entries(static_cast<std::size_t>(std::max(pool_size, 0)));
  std::iota(entries.begin(), entries.end(), 0);
  Random random(DigestBuilder().add("pool").add(secret).add(artifact).finish().prefix());
  for (std::size_t i = entries.size(); i > 1; --i) {
    std::swap(entries[i - 1], entries[random.below(i)]);
  }
  entries.resize(static_cast<std::size_t>(std::clamp(count, 0, pool_size)));
  return entries;
}

}  // namespace fusefarm::verify
