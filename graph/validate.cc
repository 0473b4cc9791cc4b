#include <set>
#include <string>

#include "graph/graph_io.h"
#include "graph/infer.h"

namespace fusefarm::graph {
namespace {

// Small enough that the byte count of any tensor of a few dims stays far from overflow.
constexpr std::int64_t kFactorMax = std::int64_t{1} << 40;
constexpr std::size_t kRankMax = 4;

Error bad_tensor(const Tensor& tensor, const std::string& why) {
  return Error{ErrorCode::kInvalidArgument, "tensor " + std::to_string(tensor.id) + " '" +
                                                tensor.name.substr(0, 80) + "': " + why};
}

Result<void> check_tensor(const Graph& graph, const Tensor& tensor) {
  if (tensor.shape.empty() || tensor.shape.size() > kRankMax) {
    return bad_tensor(tensor, "rank must be 1 to " + std::to_string(kRankMax));
  }
  double elements = 1;
  for (const Dim dim : tensor.shape) {
    if (dim.factor < 1 || dim.factor > kFactorMax) {
      return bad_tensor(tensor, "dim " + std::to_string(dim.factor) + " is out of range");
    }
    elements *= static_cast<double>(dim.factor);
  }
  if (elements > static_cast<double>(kFactorMax)) {
    return bad_tensor(tensor, "is too large");
  }
  const bool produced = graph.producer(tensor.id) != nullptr;
  const bool outside = tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kWeight;
  if (produced && outside) {
    return bad_tensor(tensor, "an input or weight is written by a node");
  }
  return {};
}

Result<void> check_boundary(const Graph& graph) {
  const std::set<TensorId> inputs(graph.inputs.begin(), graph.inputs.end());
  const std::set<TensorId> outputs(graph.outputs.begin(), graph.outputs.end());
  if (inputs.size() != graph.inputs.size() || outputs.size() != graph.outputs.size()) {
    return Error{ErrorCode::kInvalidArgument, "a graph input or output is listed twice"};
  }
  for (const TensorId id : graph.inputs) {
    if (!graph.tensors().contains(id) || graph.producer(id) != nullptr) {
      return Error{ErrorCode::kInvalidArgument,
                   "graph input " + std::to_string(id) + " does not exist or is written by a node"};
    }
  }
  for (const TensorId id : graph.outputs) {
    if (!graph.tensors().contains(id) || graph.producer(id) == nullptr) {
      return Error{ErrorCode::kInvalidArgument,
                   "graph output " + std::to_string(id) + " is written by no node"};
    }
  }
  for (const Node& node : graph.nodes()) {
    for (const TensorId id : node.inputs) {
      const Tensor& tensor = graph.tensor(id);
      const bool constant = tensor.kind == TensorKind::kWeight;
      if (graph.producer(id) == nullptr && !inputs.contains(id) && !constant) {
        return bad_tensor(tensor, "is read, but neither an input nor written by a node");
      }
    }
  }
  return {};
}

// A node that overwrites memory runs after every reader of what was there.
Result<void> check_aliases(const Graph& graph, const Node& node) {
  std::set<int> outputs;
  for (const auto& [output, input] : node.aliases) {
    const TensorId before = node.inputs[static_cast<std::size_t>(input)];
    const TensorId after = node.outputs[static_cast<std::size_t>(output)];
    const Tensor& old = graph.tensor(before);
    if (old.shape != graph.tensor(after).shape || old.dtype != graph.tensor(after).dtype ||
        !outputs.insert(output).second || graph.overwriter(before)->id != node.id) {
      return bad_tensor(old, "is overwritten twice or by something of another shape");
    }
    if (graph.consumers(before).back() != node.id) {
      return bad_tensor(old, "is read after node " + std::to_string(node.id) + " overwrote it");
    }
  }
  if (node.op == OpKind::kKvWrite && node.aliases.size() != 2) {
    return Error{ErrorCode::kInvalidArgument,
                 "node " + std::to_string(node.id) + ": a KV write overwrites both caches"};
  }
  return {};
}

}  // namespace

Result<void> validate(const Graph& graph) {
  for (const auto& [id, tensor] : graph.tensors()) {
    TRY(check_tensor(graph, tensor));
  }
  for (const Node& node : graph.nodes()) {
    if (node.body != nullptr) {
      TRY(validate(*node.body));
    }
    if (node.origin != nullptr) {
      TRY(validate(*node.origin));
      if (node.origin->inputs != node.inputs || node.origin->outputs != node.outputs) {
        return Error{ErrorCode::kInvalidArgument,
                     "node " + std::to_string(node.id) + ": its origin has another boundary"};
      }
    }
    TRY(check_node(graph, node));
    TRY(check_aliases(graph, node));
  }
  return check_boundary(graph);
}

}  // namespace fusefarm::graph
