#include "worker/gemm_race.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bf16.h"
#include "base/log.h"
#include "base/random.h"
#include "codegen/lower.h"

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::array kLibraries{"packed", "openblas", "onednn"};
constexpr int kSlots = 5;
constexpr Duration kSlotTarget = 6ms;
constexpr Duration kDeadline = 30s;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 30;  // of a library's f32 weight

struct Racer {
  std::string library;
  ArmProcess arm;
  std::uint32_t launches = 1;
  double best = 0;
};

// x[rows, k] -> y[rows, n] as a graph of its own.
graph::Graph single_linear(const GemmKey& key, graph::TensorId& weight) {
  graph::Graph graph;
  const auto tensor = [&](graph::TensorKind kind, std::int64_t rows, std::int64_t columns) {
    graph::Tensor made;
    made.kind = kind;
    made.dtype = key.dtype;
    made.shape = {graph::fixed(rows), graph::fixed(columns)};
    return graph.add_tensor(made);
  };
  const graph::TensorId x = tensor(graph::TensorKind::kActivation, key.rows, key.k);
  weight = tensor(graph::TensorKind::kWeight, key.n, key.k);
  const graph::TensorId y = tensor(graph::TensorKind::kActivation, key.rows, key.n);
  graph::Node node;
  node.op = graph::OpKind::kLinear;
  node.inputs = {x, weight};
  node.outputs = {y};
  graph.inputs = {x, weight};
  graph.outputs = {y};
  graph.add_node(node);
  return graph;
}

// Where the model has a weight of this shape; -1: nowhere.
std::int64_t place_of_weight(const GemmKey& key, const ModelMemory& model) {
  const std::int64_t bytes = key.n * key.k * graph::bytes_of(key.dtype);
  std::int64_t best = -1;
  for (const auto& [id, offset] : model.layout.offset) {
    // Values don't matter for time, so any run of weights that is long enough will do.
    if (offset + bytes <= model.layout.bytes && (best < 0 || offset < best)) {
      best = offset;
    }
  }
  return best;
}

void fill_activations(std::span<std::byte> set, graph::DType dtype) {
  Random random = Random::keyed(1, "gemm-race");
  const std::size_t width = static_cast<std::size_t>(graph::bytes_of(dtype));
  for (std::size_t at = 0; at + width <= set.size(); at += width) {
    const auto value = static_cast<float>(random.normal());
    const std::uint16_t half = float_to_bf16(value);
    std::memcpy(set.data() + at,
                dtype == graph::DType::kBF16 ? static_cast<const void*>(&half)
                                             : static_cast<const void*>(&value),
                width);
  }
}

}  // namespace

GemmKey gemm_key(const graph::Graph& graph, const graph::Node& linear,
                 const graph::Bindings& bindings) {
  const graph::Tensor& weight = graph.tensor(linear.inputs[1]);
  const graph::Tensor& x = graph.tensor(linear.inputs[0]);
  const auto shape = graph::bound_shape(weight, bindings);
  return {graph::element_count(x, bindings) / shape[1], shape[0], shape[1], weight.dtype};
}

Result<GemmChoice> race_gemm(Session& session, const GemmKey& key, const ModelMemory& model) {
  GemmChoice choice{key.rows, key.n, key.k, key.dtype, "packed", {}};
  graph::TensorId weight = graph::kNone;
  const graph::Graph graph = single_linear(key, weight);
  const std::int64_t offset = place_of_weight(key, model);
  if (offset < 0) {
    return choice;
  }
  codegen::LowerOptions options;
  options.boundary = graph::boundary_layout(graph, options.bindings);
  options.weights.offset[weight] = offset;
  options.weights.bytes = model.layout.bytes;
  options.rotation_bytes = session.rotation_bytes();
  const SharedMemory boundary = TRY(SharedMemory::create("fusefarm-gemm", options.boundary.bytes));
  fill_activations(boundary.bytes(), key.dtype);

  std::vector<Racer> racers;
  for (const char* library : kLibraries) {
    const bool packed = std::strcmp(library, "packed") == 0;
    if (!packed && key.n * key.k * 4 > kBytesMax) {
      continue;
    }
    options.gemm = [library](std::int64_t, std::int64_t, std::int64_t, graph::DType) {
      return std::string(library);
    };
    const codegen::Lowered lowered = TRY(codegen::lower(graph, options));
    std::optional<Verdict> fault;
    auto arm =
        session.start_arm({lowered.program, {}, boundary.fd(), model.read_only.get()}, fault);
    if (!arm.ok() || !*arm) {
      // A library that can't is no failure of the host, but the farm's own kernel must.
      if (packed) {
        return arm.ok() ? Error{ErrorCode::kInternal, fault->detail} : arm.error();
      }
      logger("worker").warn("gemm_library_left_out library={} why=\"{}\"", library,
                            arm.ok() ? fault->detail : arm.error().message);
      continue;
    }
    racers.push_back({library, std::move(**arm), 1, 0});
  }
  for (Racer& racer : racers) {
    (void)racer.arm.launch(0, 1, kDeadline);
    const SlotEnd end = racer.arm.launch(0, 1, kDeadline);
    const auto once = std::max<std::int64_t>(end.elapsed.count(), 1000);
    racer.launches =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(kSlotTarget.count() / once, 1, 2000));
  }
  for (int slot = 0; slot < kSlots; ++slot) {
    for (Racer& racer : racers) {
      const SlotEnd end = racer.arm.launch(0, racer.launches, kDeadline);
      if (end.fault) {
        return Error{ErrorCode::kUnavailable,
                     "GEMM by " + racer.library + ": " + end.fault->detail};
      }
      const double once = seconds(end.elapsed) / racer.launches;
      racer.best = racer.best == 0 ? once : std::min(racer.best, once);
    }
  }
  for (Racer& racer : racers) {
    choice.seconds[racer.library] = racer.best;
    if (racer.best < choice.seconds[choice.library]) {
      choice.library = racer.library;
    }
    racer.arm.stop();
  }
  return choice;
}

}  // namespace fusefarm::worker
