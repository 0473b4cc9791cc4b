#include "graph/cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "graph/memory_layout.h"
#include "graph/region.h"

namespace fusefarm::graph {
namespace {

std::int64_t elements(const Graph& graph, TensorId id, const Bindings& bindings) {
  return element_count(graph.tensor(id), bindings);
}

std::int64_t bytes(const Graph& graph, TensorId id, const Bindings& bindings) {
  return byte_count(graph.tensor(id), bindings);
}

// Experts that T tokens of k choices each are expected to touch when all are equally likely.
double experts_touched(double experts, double chosen, double tokens) {
  return experts * (1.0 - std::pow(1.0 - chosen / experts, tokens));
}

// Slots that one token attends to, averaged over the step. Causal: a sequence's own tokens are the
// last of its slots, and each sees those before it.
double slots_seen(const Node& node, const Bindings& bindings) {
  const auto sequences = static_cast<double>(std::max<std::int64_t>(bindings.sequences, 1));
  const double context = static_cast<double>(bindings.slots) / sequences;
  const double own = static_cast<double>(bindings.tokens) / sequences;
  const bool causal = node.attrs.integer("causal", 1) != 0;
  return causal ? std::max(context - (own - 1.0) / 2.0, 0.0) : context;
}

// Arithmetic of element-wise ops a value; an exponential, a division or a root counts as one.
double flops_of(const Graph& graph, const Node& node, const Bindings& bindings) {
  const auto in = [&](std::size_t i) {
    return static_cast<double>(elements(graph, node.inputs[i], bindings));
  };
  const auto out = [&](std::size_t i) {
    return static_cast<double>(elements(graph, node.outputs[i], bindings));
  };
  const auto depth = [&](std::size_t weight) {
    return static_cast<double>(graph.tensor(node.inputs[weight]).shape.back().factor);
  };
  switch (node.op) {
    case OpKind::kEmbedding:
    case OpKind::kSplit:
    case OpKind::kKvWrite:
    case OpKind::kSelectRows:
    case OpKind::kAllGather:
    case OpKind::kCast:
      return 0;
    case OpKind::kRmsNorm:
      return 4 * in(0);
    case OpKind::kAdd:
      return out(0);
    case OpKind::kLinear:
      return 2 * out(0) * depth(1) + (node.inputs.size() > 2 ? out(0) : 0);
    case OpKind::kExpertLinear:
      return 2 * out(0) * depth(2);
    case OpKind::kRope:
      return 3 * in(0);
    case OpKind::kAttention:
      return 4 * in(0) * slots_seen(node, bindings);
    case OpKind::kSiluMul:
      return 5 * out(0);
    case OpKind::kRouterSelect:
      return 10 * in(0);
    case OpKind::kMoeFinalize:
      return 2 * in(0);
    case OpKind::kArgmax:
      return in(0);
    case OpKind::kAllReduce:
      return out(0) * static_cast<double>(node.attrs.integer("group", 2) - 1);
    case OpKind::kRegion:
      return 0;
  }
  return 0;
}

// Bytes of input `i` that the node has to read: a part of a table, cache or expert stack.
std::int64_t bytes_read(const Graph& graph, const Node& node, std::size_t i,
                        const Bindings& bindings) {
  const TensorId id = node.inputs[i];
  const std::int64_t whole = bytes(graph, id, bindings);
  switch (node.op) {
    case OpKind::kEmbedding:
      return i == 1 ? std::min(whole, bytes(graph, node.outputs[0], bindings)) : whole;
    case OpKind::kKvWrite:
      return i >= 3 ? 0 : whole;  // rows are replaced, not read
    case OpKind::kSelectRows:
      return bytes(graph, node.outputs[0], bindings);
    case OpKind::kExpertLinear: {
      if (i != 2) {
        return whole;
      }
      const auto experts = static_cast<double>(graph.tensor(id).shape.front().factor);
      const auto chosen = static_cast<double>(graph.tensor(node.inputs[1]).shape.back().factor);
      const double touched = experts_touched(experts, chosen, static_cast<double>(bindings.tokens));
      return static_cast<std::int64_t>(static_cast<double>(whole) * touched / experts);
    }
    default:
      return whole;
  }
}

// A KV write leaves all but the step's own rows of the cache untouched.
std::int64_t bytes_written(const Graph& graph, const Node& node, std::size_t i,
                           const Bindings& bindings) {
  if (node.op == OpKind::kKvWrite) {
    return bytes(graph, node.inputs[i], bindings);
  }
  return bytes(graph, node.outputs[i], bindings);
}

}  // namespace

Cost region_cost(const Graph& region, const Bindings& bindings) {
  Cost cost;
  const Graph flat = expand(region);
  // By memory: what a cache held before and holds after a write is read once.
  std::map<TensorId, std::int64_t> read;
  std::set<TensorId> outputs(region.outputs.begin(), region.outputs.end());
  for (const Node& node : flat.nodes()) {
    cost.flops += flops_of(flat, node, bindings);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId source = storage_of(flat, node.inputs[i]);
      if (flat.producer(source) != nullptr) {
        continue;
      }
      std::int64_t& most = read[source];
      most = std::max(most, bytes_read(flat, node, i, bindings));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (outputs.contains(node.outputs[i])) {
        cost.bytes_written += bytes_written(flat, node, i, bindings);
      }
    }
  }
  for (const auto& [id, amount] : read) {
    const bool weight = flat.tensor(id).kind == TensorKind::kWeight;
    (weight ? cost.weight_bytes : cost.bytes_read) += amount;
  }
  return cost;
}

Cost node_cost(const Graph& graph, const Node& node, const Bindings& bindings) {
  if (node.op == OpKind::kRegion) {
    return region_cost(*node.body, bindings);
  }
  Cost cost;
  if (is_view(node.op)) {
    return cost;
  }
  cost.flops = flops_of(graph, node, bindings);
  std::map<TensorId, std::int64_t> read;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    std::int64_t& most = read[node.inputs[i]];
    most = std::max(most, bytes_read(graph, node, i, bindings));
  }
  for (const auto& [id, amount] : read) {
    const bool weight = graph.tensor(id).kind == TensorKind::kWeight;
    (weight ? cost.weight_bytes : cost.bytes_read) += amount;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    cost.bytes_written += bytes_written(graph, node, i, bindings);
  }
  return cost;
}

}  // namespace fusefarm::graph
