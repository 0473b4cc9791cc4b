#include "graph/topology.h"

#include <algorithm>
#include <set>

namespace fusefarm::graph {
namespace {

void sort_once(std::vector<std::size_t>& positions) {
  std::ranges::sort(positions);
  const auto rest = std::ranges::unique(positions);
  positions.erase(rest.begin(), rest.end());
}

bool contains(const std::vector<std::size_t>& sorted, std::size_t value) {
  return std::ranges::binary_search(sorted, value);
}

void add_data_successors(const Graph& graph, const Node& node, std::vector<std::size_t>& out) {
  for (const TensorId output : node.outputs) {
    for (const NodeId reader : graph.consumers(output)) {
      out.push_back(graph.position(reader));
    }
  }
}

// Follows the edges out of a node, as far as the last member; true when one leads to a member. New
// outsiders are added to `open`.
bool step(const Graph& graph, std::size_t from, const std::vector<std::size_t>& members,
          std::set<std::size_t>& seen, std::vector<std::size_t>& open) {
  bool met = false;
  for (const std::size_t next : successors(graph, graph.nodes()[from])) {
    if (next > members.back()) {
      break;
    }
    const bool member = contains(members, next);
    met = met || member;
    if (!member && seen.insert(next).second) {
      open.push_back(next);
    }
  }
  return met;
}

}  // namespace

std::vector<std::size_t> data_successors(const Graph& graph, const Node& node) {
  std::vector<std::size_t> out;
  add_data_successors(graph, node, out);
  sort_once(out);
  return out;
}

std::vector<std::size_t> data_predecessors(const Graph& graph, const Node& node) {
  std::vector<std::size_t> out;
  for (const TensorId input : node.inputs) {
    if (const Node* producer = graph.producer(input)) {
      out.push_back(graph.position(producer->id));
    }
  }
  sort_once(out);
  return out;
}

std::vector<std::size_t> successors(const Graph& graph, const Node& node) {
  std::vector<std::size_t> out;
  add_data_successors(graph, node, out);
  for (const TensorId input : node.inputs) {
    const Node* overwriter = graph.overwriter(input);
    if (overwriter != nullptr && overwriter->id != node.id) {
      out.push_back(graph.position(overwriter->id));
    }
  }
  sort_once(out);
  return out;
}

std::vector<std::size_t> positions_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::size_t> out;
  out.reserve(nodes.size());
  for (const NodeId id : nodes) {
    out.push_back(graph.position(id));
  }
  sort_once(out);
  return out;
}

bool convex_positions(const Graph& graph, const std::vector<std::size_t>& members) {
  if (members.size() < 2) {
    return true;
  }
  // A path that comes back passes only positions between the first and the last member.
  std::set<std::size_t> seen;
  std::vector<std::size_t> open;
  for (const std::size_t member : members) {
    step(graph, member, members, seen, open);
  }
  while (!open.empty()) {
    const std::size_t position = open.back();
    open.pop_back();
    if (step(graph, position, members, seen, open)) {
      return false;
    }
  }
  return true;
}

bool connected_positions(const Graph& graph, const std::vector<std::size_t>& members) {
  if (members.empty()) {
    return false;
  }
  std::vector<std::size_t> open{members.front()};
  std::set<std::size_t> seen{members.front()};
  while (!open.empty()) {
    const Node& node = graph.nodes()[open.back()];
    open.pop_back();
    std::vector<std::size_t> neighbours = data_successors(graph, node);
    const std::vector<std::size_t> before = data_predecessors(graph, node);
    neighbours.insert(neighbours.end(), before.begin(), before.end());
    for (const std::size_t next : neighbours) {
      if (contains(members, next) && seen.insert(next).second) {
        open.push_back(next);
      }
    }
  }
  return seen.size() == members.size();
}

}  // namespace fusefarm::graph
