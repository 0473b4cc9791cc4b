// Canonical labelling of a graph: colour refinement (Weisfeiler and Leman 1968) with search over
// the ties that are left, pruned by the automorphisms it finds (McKay and Piperno 2014).
// Deterministic, and a function of structure alone: ids, names and node order have no influence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace fusefarm::graph {

// Vertices 0 .. nodes-1 are the nodes by position, then the tensors in ascending id.
class Refinement {
 public:
  explicit Refinement(const Graph& graph);

  // The best complete labelling: `order[rank]` is the vertex of that rank.
  std::vector<std::size_t> canonical_order();

 private:
  struct Edge {
    std::size_t to;
    std::uint64_t label;
  };

  using Colours = std::vector<std::uint64_t>;
  using Permutation = std::vector<std::size_t>;  // vertex -> vertex

  void connect(std::size_t node, std::size_t tensor, std::uint64_t label);
  Colours refine(Colours colours) const;
  std::vector<std::size_t> smallest_tie(const Colours& colours) const;
  std::string certificate(const std::vector<std::size_t>& order) const;
  void search(const Colours& colours, std::vector<std::size_t>& fixed);
  void leaf(const Colours& colours, const std::vector<std::size_t>& fixed);
  std::vector<const Permutation*> keeping(const std::vector<std::size_t>& fixed) const;
  bool symmetric(std::size_t vertex, const std::vector<std::size_t>& tried,
                 const std::vector<std::size_t>& fixed) const;

  std::vector<std::vector<Edge>> edges_;
  Colours initial_;
  std::vector<std::size_t> best_;
  std::vector<std::size_t> best_fixed_;  // the choices that led to best_
  std::size_t resume_depth_;             // the search goes on where this many choices are fixed
  std::string best_certificate_;
  std::vector<Permutation> automorphisms_;
};

}  // namespace fusefarm::graph
