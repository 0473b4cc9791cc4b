#include "tests/graph/sample_graphs.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/files.h"
#include "base/random.h"
#include "graph/canonical_key.h"
#include "graph/graph_builder.h"

namespace fusefarm::graph {

std::string config_text(const std::string& name) {
  return read_file(std::string(FUSEFARM_SOURCE_DIR) + "/configs/models/" + name + ".json").take();
}

ModelConfig config_of(const std::string& name) {
  return parse_model_config(config_text(name), name + ".json").take();
}

Graph model_of(const std::string& name, const ImportOptions& options) {
  return build_model_graph(config_of(name), options).take();
}

Graph random_graph(std::uint64_t seed, int nodes) {
  Random random = Random::keyed(seed, "random-graph");
  Graph graph;
  GraphBuilder builder(graph, DType::kBF16);
  std::vector<TensorId> values{builder.input("x", DType::kBF16, {tokens(), fixed(16)})};
  const TensorId shared = builder.weight("shared", DType::kBF16, {16}, Init::kAroundOne, 0.1);
  for (int i = 0; i < nodes; ++i) {
    const auto pick = [&] { return values[random.below(values.size())]; };
    const std::string name = "n" + std::to_string(i);
    const TensorId a = pick();
    switch (random.below(4)) {
      case 0:
        values.push_back(builder.add(name, a, pick()));
        break;
      case 1:
        values.push_back(builder.rms_norm(name, a, 1e-6));
        break;
      case 2:
        values.push_back(builder.op(OpKind::kRmsNorm, name, {a, shared}, {tokens(), fixed(16)},
                                    Attrs().set("eps", 1e-5)));
        break;
      default:
        values.push_back(builder.linear(name, a, 16, false));
        break;
    }
  }
  for (const TensorId id : values) {
    if (graph.producer(id) != nullptr && (graph.consumers(id).empty() || random.below(8) == 0)) {
      graph.outputs.push_back(id);
    }
  }
  return graph;
}

namespace {

// Whether everything that must run before a node has been placed.
bool is_ready(const Graph& graph, const Node& node, const std::set<NodeId>& placed) {
  const auto done = [&](NodeId id) { return id == node.id || placed.contains(id); };
  const bool inputs_made = std::ranges::all_of(node.inputs, [&](TensorId id) {
    const Node* producer = graph.producer(id);
    return producer == nullptr || done(producer->id);
  });
  return inputs_made && std::ranges::all_of(node.aliases, [&](const std::pair<int, int>& alias) {
           const TensorId before = node.inputs[static_cast<std::size_t>(alias.second)];
           return std::ranges::all_of(graph.consumers(before), done);
         });
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i)]);
  }
}

// A random node among those that may come next.
const Node& next_node(const Graph& graph, const std::set<NodeId>& placed, Random& random) {
  std::vector<const Node*> ready;
  for (const Node& node : graph.nodes()) {
    if (!placed.contains(node.id) && is_ready(graph, node, placed)) {
      ready.push_back(&node);
    }
  }
  FUSEFARM_CHECK(!ready.empty(), "no node is ready");
  return *ready[random.below(ready.size())];
}

}  // namespace

Graph shuffled(const Graph& graph, std::uint64_t seed, std::map<NodeId, NodeId>* node_of) {
  Random random = Random::keyed(seed, "shuffle");
  std::vector<TensorId> tensors;
  for (const auto& [id, tensor] : graph.tensors()) {
    tensors.push_back(id);
  }
  shuffle(tensors, random);
  std::map<TensorId, TensorId> renamed;
  Graph out;
  for (const TensorId id : tensors) {
    Tensor tensor = graph.tensor(id);
    tensor.id = out.next_id + static_cast<TensorId>(random.below(3));
    tensor.name = "t" + std::to_string(random.below(1000));
    renamed[id] = out.add_tensor(std::move(tensor));
  }
  std::set<NodeId> placed;
  while (placed.size() < graph.nodes().size()) {
    Node node = next_node(graph, placed, random);
    const NodeId old_id = node.id;
    placed.insert(old_id);
    node.id = out.next_id + static_cast<NodeId>(random.below(3));
    node.name = "node" + std::to_string(random.below(1000));
    node.layer = static_cast<std::int32_t>(random.below(5));
    for (TensorId& id : node.inputs) {
      id = renamed.at(id);
    }
    for (TensorId& id : node.outputs) {
      id = renamed.at(id);
    }
    if (is_commutative(node.op) && random.coin()) {
      std::swap(node.inputs[0], node.inputs[1]);
    }
    const NodeId new_id = out.add_node(std::move(node));
    if (node_of != nullptr) {
      (*node_of)[old_id] = new_id;
    }
  }
  for (const TensorId id : graph.inputs) {
    out.inputs.push_back(renamed.at(id));
  }
  for (const TensorId id : graph.outputs) {
    out.outputs.push_back(renamed.at(id));
  }
  shuffle(out.inputs, random);
  shuffle(out.outputs, random);
  return out;
}

NodeId node_named(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes()) {
    if (node.name == name) {
      return node.id;
    }
  }
  FUSEFARM_CHECK(false, "no node is named " + name);
  return kNone;
}

std::vector<NodeId> nodes_named(const Graph& graph, const std::vector<std::string>& names) {
  std::vector<NodeId> ids;
  ids.reserve(names.size());
  for (const std::string& name : names) {
    ids.push_back(node_named(graph, name));
  }
  return ids;
}

}  // namespace fusefarm::graph
