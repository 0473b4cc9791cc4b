#include "graph/refinement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "graph/canonical_key.h"

namespace fusefarm::graph {
namespace {

// Finaliser of MurmurHash3 (Appleby): every input bit flips each output bit in half of the cases. A
// collision only costs search time, because labellings are compared by what they spell.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(a * 0x9e3779b97f4a7c15ULL + b); }

// FNV-1a: the same on every machine.
std::uint64_t hash_text(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return mix(hash);
}

std::size_t distinct(std::vector<std::uint64_t> colours) {
  std::ranges::sort(colours);
  return static_cast<std::size_t>(std::ranges::unique(colours).begin() - colours.begin());
}

constexpr std::uint64_t kOutputLabel = 1000;
constexpr std::uint64_t kBackward = 1'000'000;
constexpr std::uint64_t kChosen = 0x5bf03635;
constexpr std::size_t kAnyDepth = std::numeric_limits<std::size_t>::max();

}  // namespace

Refinement::Refinement(const Graph& graph) : resume_depth_(kAnyDepth) {
  const std::size_t nodes = graph.nodes().size();
  edges_.resize(nodes + graph.tensors().size());
  initial_.resize(edges_.size());
  std::map<TensorId, std::size_t> vertex_of;
  const std::set<TensorId> inputs(graph.inputs.begin(), graph.inputs.end());
  const std::set<TensorId> outputs(graph.outputs.begin(), graph.outputs.end());
  std::size_t next = nodes;
  for (const auto& [id, tensor] : graph.tensors()) {
    const std::string boundary =
        std::string(inputs.contains(id) ? " in" : "") + (outputs.contains(id) ? " out" : "");
    initial_[next] = hash_text("tensor " + tensor_key(tensor) + boundary);
    vertex_of[id] = next++;
  }
  for (std::size_t at = 0; at < nodes; ++at) {
    const Node& node = graph.nodes()[at];
    initial_[at] = hash_text("node " + node_key(node));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      connect(at, vertex_of.at(node.inputs[i]), is_commutative(node.op) ? 1 : 1 + i);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      connect(at, vertex_of.at(node.outputs[i]), kOutputLabel + i);
    }
  }
}

void Refinement::connect(std::size_t node, std::size_t tensor, std::uint64_t label) {
  edges_[node].push_back({tensor, label});
  edges_[tensor].push_back({node, kBackward + label});
}

Refinement::Colours Refinement::refine(Colours colours) const {
  std::size_t classes = distinct(colours);
  while (classes < colours.size()) {
    Colours next(colours.size());
    for (std::size_t v = 0; v < colours.size(); ++v) {
      std::uint64_t around = 0;
      for (const Edge& edge : edges_[v]) {
        around += mix(edge.label, colours[edge.to]);
      }
      next[v] = mix(colours[v], around);
    }
    const std::size_t refined = distinct(next);
    if (refined <= classes) {
      break;
    }
    classes = refined;
    colours = std::move(next);
  }
  return colours;
}

std::vector<std::size_t> Refinement::smallest_tie(const Colours& colours) const {
  std::map<std::uint64_t, std::vector<std::size_t>> cells;
  for (std::size_t v = 0; v < colours.size(); ++v) {
    cells[colours[v]].push_back(v);
  }
  const std::vector<std::size_t>* best = nullptr;
  for (const auto& [colour, cell] : cells) {
    if (cell.size() > 1 && (best == nullptr || cell.size() < best->size())) {
      best = &cell;
    }
  }
  return best == nullptr ? std::vector<std::size_t>{} : *best;
}

std::string Refinement::certificate(const std::vector<std::size_t>& order) const {
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
  }
  std::string text;
  for (const std::size_t vertex : order) {
    std::vector<std::pair<std::uint64_t, std::size_t>> row;
    for (const Edge& edge : edges_[vertex]) {
      row.emplace_back(edge.label, rank[edge.to]);
    }
    std::ranges::sort(row);
    text += std::to_string(initial_[vertex]);
    for (const auto& [label, to] : row) {
      text += " " + std::to_string(label) + ">" + std::to_string(to);
    }
    text += "\n";
  }
  return text;
}

void Refinement::leaf(const Colours& colours, const std::vector<std::size_t>& fixed) {
  std::vector<std::size_t> order(colours.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return colours[a] < colours[b]; });
  std::string spelled = certificate(order);
  if (best_.empty() || spelled < best_certificate_) {
    best_ = std::move(order);
    best_certificate_ = std::move(spelled);
    best_fixed_ = fixed;
  } else if (spelled == best_certificate_) {
    Permutation map(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      map[best_[i]] = order[i];
    }
    automorphisms_.push_back(std::move(map));
    // The rest of this branch mirrors one that is done: back to where the two parted.
    const auto parted = std::ranges::mismatch(fixed, best_fixed_);
    resume_depth_ = static_cast<std::size_t>(parted.in1 - fixed.begin());
  }
}

std::vector<const Refinement::Permutation*> Refinement::keeping(
    const std::vector<std::size_t>& fixed) const {
  std::vector<const Permutation*> out;
  for (const Permutation& map : automorphisms_) {
    if (std::ranges::all_of(fixed, [&](std::size_t v) { return map[v] == v; })) {
      out.push_back(&map);
    }
  }
  return out;
}

// Whether known automorphisms that leave `fixed` alone take a vertex already tried to this one.
bool Refinement::symmetric(std::size_t vertex, const std::vector<std::size_t>& tried,
                           const std::vector<std::size_t>& fixed) const {
  const std::vector<const Permutation*> maps = keeping(fixed);
  std::set<std::size_t> orbit{vertex};
  std::vector<std::size_t> open{vertex};
  const auto reach = [&](std::size_t to) {
    if (orbit.insert(to).second) {
      open.push_back(to);
    }
  };
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const Permutation* map : maps) {
      reach((*map)[at]);
      reach(static_cast<std::size_t>(std::ranges::find(*map, at) - map->begin()));
    }
  }
  return std::ranges::any_of(tried, [&](std::size_t v) { return orbit.contains(v); });
}

void Refinement::search(const Colours& colours, std::vector<std::size_t>& fixed) {
  const std::vector<std::size_t> tie = smallest_tie(colours);
  if (tie.empty()) {
    leaf(colours, fixed);
    return;
  }
  std::vector<std::size_t> tried;
  for (const std::size_t vertex : tie) {
    if (symmetric(vertex, tried, fixed)) {
      continue;
    }
    Colours chosen = colours;
    chosen[vertex] = mix(kChosen, chosen[vertex]);
    fixed.push_back(vertex);
    search(refine(std::move(chosen)), fixed);
    fixed.pop_back();
    if (resume_depth_ < fixed.size()) {
      return;
    }
    resume_depth_ = kAnyDepth;
    tried.push_back(vertex);
  }
}

std::vector<std::size_t> Refinement::canonical_order() {
  std::vector<std::size_t> fixed;
  search(refine(initial_), fixed);
  return best_;
}

}  // namespace fusefarm::graph
