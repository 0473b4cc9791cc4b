#include "graph/graph.h"

#include <algorithm>

#include "base/check.h"

namespace fusefarm::graph {

TensorId Graph::add_tensor(Tensor tensor) {
  if (tensor.id == kNone) {
    tensor.id = next_id;
  }
  FUSEFARM_CHECK(tensor.id >= 0 && !tensors_.contains(tensor.id),
                 "tensor " + std::to_string(tensor.id) + " '" + tensor.name + "'");
  next_id = std::max(next_id, tensor.id + 1);
  const TensorId id = tensor.id;
  tensors_.emplace(id, std::move(tensor));
  return id;
}

NodeId Graph::add_node(Node node) {
  if (node.id == kNone) {
    node.id = next_id;
  }
  FUSEFARM_CHECK(node.id >= 0 && !position_.contains(node.id),
                 "node " + std::to_string(node.id) + " '" + node.name + "'");
  next_id = std::max(next_id, node.id + 1);
  for (const TensorId input : node.inputs) {
    FUSEFARM_CHECK(tensors_.contains(input),
                   "node '" + node.name + "' reads tensor " + std::to_string(input));
    std::vector<NodeId>& readers = consumers_[input];
    if (readers.empty() || readers.back() != node.id) {
      readers.push_back(node.id);
    }
  }
  for (const TensorId output : node.outputs) {
    FUSEFARM_CHECK(tensors_.contains(output) && !producer_.contains(output),
                   "node '" + node.name + "' writes tensor " + std::to_string(output));
    producer_[output] = node.id;
  }
  for (const auto& [output, input] : node.aliases) {
    const auto reads = static_cast<std::size_t>(input);
    FUSEFARM_CHECK(input >= 0 && reads < node.inputs.size() && output >= 0 &&
                       static_cast<std::size_t>(output) < node.outputs.size(),
                   "node '" + node.name + "' aliases what it does not have");
    overwriter_[node.inputs[reads]] = node.id;
  }
  const NodeId id = node.id;
  position_[id] = nodes_.size();
  nodes_.push_back(std::move(node));
  return id;
}

const Tensor& Graph::tensor(TensorId id) const {
  const auto found = tensors_.find(id);
  FUSEFARM_CHECK(found != tensors_.end(), "tensor " + std::to_string(id));
  return found->second;
}

std::size_t Graph::position(NodeId id) const {
  const auto found = position_.find(id);
  FUSEFARM_CHECK(found != position_.end(), "node " + std::to_string(id));
  return found->second;
}

const Node& Graph::node(NodeId id) const { return nodes_[position(id)]; }

const Node* Graph::producer(TensorId id) const {
  const auto found = producer_.find(id);
  return found == producer_.end() ? nullptr : &node(found->second);
}

const std::vector<NodeId>& Graph::consumers(TensorId id) const {
  static const std::vector<NodeId> none;
  const auto found = consumers_.find(id);
  return found == consumers_.end() ? none : found->second;
}

const Node* Graph::overwriter(TensorId id) const {
  const auto found = overwriter_.find(id);
  return found == overwriter_.end() ? nullptr : &node(found->second);
}

std::vector<std::int64_t> bound_shape(const Tensor& tensor, const Bindings& bindings) {
  std::vector<std::int64_t> shape;
  shape.reserve(tensor.shape.size());
  for (const Dim dim : tensor.shape) {
    shape.push_back(bindings.of(dim));
  }
  return shape;
}

std::int64_t element_count(const Tensor& tensor, const Bindings& bindings) {
  std::int64_t count = 1;
  for (const Dim dim : tensor.shape) {
    count *= bindings.of(dim);
  }
  return count;
}

std::int64_t byte_count(const Tensor& tensor, const Bindings& bindings) {
  return element_count(tensor, bindings) * bytes_of(tensor.dtype);
}

}  // namespace fusefarm::graph
