#include <algorithm>
#include <unordered_map>

#include "graph/canonical_key.h"
#include "graph/region.h"
#include "graph/region_cut.h"

namespace fusefarm::graph {
namespace {

using Key = std::vector<std::int32_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::size_t hash = 0xcbf29ce484222325ULL;
    for (const std::int32_t word : key) {
      hash = (hash ^ static_cast<std::uint32_t>(word)) * 0x100000001b3ULL;
    }
    return hash;
  }
};

// Everything about a set that its signature can depend on, spelled in the order in which the nodes
// lie in the graph. Equal spellings: isomorphic regions. (The reverse does not hold; that is what
// canonicalise() is for.)
class Speller {
 public:
  explicit Speller(const Graph& graph) : graph_(graph) {
    const auto ids = static_cast<std::size_t>(graph.next_id);
    tensor_class_.resize(ids);
    is_output_.resize(ids);
    for (const auto& [id, tensor] : graph.tensors()) {
      tensor_class_[static_cast<std::size_t>(id)] = intern(tensor_key(tensor));
    }
    for (const TensorId id : graph.outputs) {
      is_output_[static_cast<std::size_t>(id)] = 1;
    }
    node_class_.reserve(graph.nodes().size());
    for (const Node& node : graph.nodes()) {
      node_class_.push_back(intern(class_text(node)));
    }
  }

  Key spell(const NodeSet& set) {
    Key key;
    std::vector<TensorId> numbered;  // tensors in order of first appearance
    const auto number = [&](TensorId id) {
      const auto found = std::ranges::find(numbered, id);
      const auto index = static_cast<std::int32_t>(found - numbered.begin());
      if (found == numbered.end()) {
        numbered.push_back(id);
      }
      return index;
    };
    for (const NodeId id : set.nodes) {
      const std::size_t at = graph_.position(id);
      const Node& node = graph_.nodes()[at];
      key.push_back(node_class_[at]);
      for (const TensorId input : node.inputs) {
        key.push_back(number(input));
        key.push_back(tensor_class_[static_cast<std::size_t>(input)]);
      }
      for (const TensorId output : node.outputs) {
        key.push_back(number(output));
        key.push_back(tensor_class_[static_cast<std::size_t>(output)]);
        key.push_back(leaves(output, set) ? -2 : -1);
      }
    }
    return key;
  }

 private:
  static std::string class_text(const Node& node) {
    std::string text = node_key(node);
    // What a kRegion computes is in its key; how its inputs meet that is in the order of the body.
    if (node.op == OpKind::kRegion && node.body != nullptr) {
      for (const Node& inner : node.body->nodes()) {
        text += "|" + node_key(inner);
        for (const TensorId id : inner.inputs) {
          text += " " + std::to_string(id);
        }
        text += ">";
        for (const TensorId id : inner.outputs) {
          text += " " + std::to_string(id);
        }
      }
      for (const TensorId id : node.body->inputs) {
        text += " i" + std::to_string(id);
      }
      for (const TensorId id : node.body->outputs) {
        text += " o" + std::to_string(id);
      }
    }
    return text;
  }

  std::int32_t intern(const std::string& text) {
    return classes_.try_emplace(text, static_cast<std::int32_t>(classes_.size())).first->second;
  }

  bool leaves(TensorId id, const NodeSet& set) const {
    if (is_output_[static_cast<std::size_t>(id)] != 0) {
      return true;
    }
    for (const NodeId reader : graph_.consumers(id)) {
      if (std::ranges::find(set.nodes, reader) == set.nodes.end()) {
        return true;
      }
    }
    return false;
  }

  const Graph& graph_;
  std::unordered_map<std::string, std::int32_t> classes_;
  std::vector<std::int32_t> tensor_class_;  // by tensor id
  std::vector<char> is_output_;             // by tensor id
  std::vector<std::int32_t> node_class_;    // by position
};

}  // namespace

std::vector<RegionClass> classify_regions(const Graph& graph, const std::vector<NodeSet>& sets) {
  Speller speller(graph);
  std::unordered_map<Key, std::size_t, KeyHash> by_spelling;
  std::map<Digest, std::size_t> by_signature;
  std::vector<RegionClass> classes;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto [spelled, fresh] = by_spelling.try_emplace(speller.spell(sets[i]), 0);
    if (fresh) {
      std::vector<std::size_t> members;
      for (const NodeId id : sets[i].nodes) {
        members.push_back(graph.position(id));
      }
      std::ranges::sort(members);
      const Digest signature = region_signature(cut(graph, members, Regions::kExpand));
      const auto [known, added] = by_signature.try_emplace(signature, classes.size());
      if (added) {
        classes.push_back({signature, {}});
      }
      spelled->second = known->second;
    }
    classes[spelled->second].occurrences.push_back(i);
  }
  return classes;
}

}  // namespace fusefarm::graph
