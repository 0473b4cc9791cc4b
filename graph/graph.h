// The model graph of one rank: a DAG of nodes over tensors, in SSA form (each tensor has at most
// one producer; state that is overwritten gets a new tensor that aliases the old one).
//
// Value semantics: a Graph is immutable once it is shared; rewriting returns a new Graph with
// version + 1. Ids are unique in a graph and stay what they are across rewrites.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/attrs.h"
#include "graph/dim.h"
#include "graph/dtype.h"
#include "graph/op.h"

namespace fusefarm::graph {

using TensorId = std::int32_t;
using NodeId = std::int32_t;
constexpr std::int32_t kNone = -1;

enum class TensorKind : std::uint8_t {
  kInput,       // of the step: token ids, positions, slots
  kWeight,      // constant over steps
  kState,       // KV cache: lives across steps
  kActivation,  // produced and consumed within a step
};

// How random values of realistic scale are drawn for a weight without a checkpoint.
enum class Init : std::uint8_t { kNormal, kAroundOne, kSmall };

struct Tensor {
  TensorId id = kNone;
  std::string name;  // for people; never part of a signature
  TensorKind kind = TensorKind::kActivation;
  DType dtype = DType::kBF16;
  std::vector<Dim> shape;  // row-major, last dim contiguous
  Init init = Init::kNormal;
  double init_scale = 0.02;  // standard deviation (kNormal, kSmall), spread around 1 (kAroundOne)
};

class Graph;

struct Node {
  NodeId id = kNone;
  OpKind op = OpKind::kAdd;
  std::string name;            // for people; never part of a signature
  std::int32_t layer = kNone;  // decoder layer, or kNone outside the stack
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  Attrs attrs;
  // (output index, input index): the output is the same memory as the input, overwritten.
  std::vector<std::pair<int, int>> aliases;
  // kRegion only: what the region computes, in canonical form (region.h). Its graph inputs and
  // outputs correspond, in this order, to this node's inputs and outputs.
  std::shared_ptr<const Graph> body;
  // kRegion made by contract(): the nodes that it replaced, with the ids and names they had and
  // this node's inputs and outputs. dissolve() and expand() put them back.
  std::shared_ptr<const Graph> origin;
};

class Graph {
 public:
  TensorId add_tensor(Tensor tensor);  // assigns the id when it is kNone; keeps it otherwise
  NodeId add_node(Node node);          // inputs must exist; appended, so nodes stay topological

  const std::vector<Node>& nodes() const { return nodes_; }  // topological order

  const std::map<TensorId, Tensor>& tensors() const { return tensors_; }

  const Tensor& tensor(TensorId id) const;
  const Node& node(NodeId id) const;

  bool has_node(NodeId id) const { return position_.contains(id); }

  // The node that produces a tensor, or nullptr for inputs, weights and initial state.
  const Node* producer(TensorId id) const;
  // Nodes that read a tensor, in topological order. Valid until the next add_node().
  const std::vector<NodeId>& consumers(TensorId id) const;
  // The node that overwrites a tensor's memory (an alias), or nullptr. It runs after all readers.
  const Node* overwriter(TensorId id) const;
  // Index of a node in nodes().
  std::size_t position(NodeId id) const;

  // Graph inputs and outputs, ordered. For an extracted region: its boundary.
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::int32_t version = 0;
  std::int32_t next_id = 0;  // for tensors and nodes alike

 private:
  std::vector<Node> nodes_;
  std::map<NodeId, std::size_t> position_;
  std::map<TensorId, Tensor> tensors_;
  std::map<TensorId, NodeId> producer_;
  std::map<TensorId, std::vector<NodeId>> consumers_;
  std::map<TensorId, NodeId> overwriter_;
};

std::vector<std::int64_t> bound_shape(const Tensor& tensor, const Bindings& bindings);
std::int64_t element_count(const Tensor& tensor, const Bindings& bindings);
std::int64_t byte_count(const Tensor& tensor, const Bindings& bindings);

}  // namespace fusefarm::graph
