#include <algorithm>
#include <map>
#include <set>

#include "graph/region.h"
#include "graph/topology.h"

namespace fusefarm::graph {
namespace {

using Positions = std::vector<int>;

// What enumeration looks at, per node, in offsets from the node: equal descriptors over a stretch
// of nodes mean equal sets over that stretch, so a repeated layer is enumerated once.
struct Local {
  bool allowed = false, view = false;
  bool exposed = false;    // an output is one of the graph
  Positions neighbours;    // data edges, both directions
  Positions successors;    // data and order edges
  Positions late_readers;  // read what this node overwrites, and come after it
  friend auto operator<=>(const Local&, const Local&) = default;
};

Positions offsets(const std::vector<std::size_t>& positions, std::size_t from) {
  Positions out;
  out.reserve(positions.size());
  for (const std::size_t to : positions) {
    out.push_back(static_cast<int>(to) - static_cast<int>(from));
  }
  return out;
}

Local describe(const Graph& graph, std::size_t at, const EnumerateOptions& options,
               const std::set<TensorId>& outputs) {
  const Node& node = graph.nodes()[at];
  Local local;
  local.exposed =
      std::ranges::any_of(node.outputs, [&](TensorId id) { return outputs.contains(id); });
  local.allowed = options.may_contain == nullptr || options.may_contain(node);
  local.view = is_view(node.op);
  std::vector<std::size_t> around = data_predecessors(graph, node);
  const std::vector<std::size_t> next = data_successors(graph, node);
  around.insert(around.end(), next.begin(), next.end());
  local.neighbours = offsets(around, at);
  local.successors = offsets(successors(graph, node), at);
  std::vector<std::size_t> late;
  for (const auto& [output, input] : node.aliases) {
    for (const NodeId reader : graph.consumers(node.inputs[static_cast<std::size_t>(input)])) {
      if (graph.position(reader) > at) {
        late.push_back(graph.position(reader));
      }
    }
  }
  local.late_readers = offsets(late, at);
  return local;
}

// All sets whose first node is `anchor` (ESU, Wernicke 2006): each grows by neighbours after the
// anchor that no earlier member could have added.
class AnchorSearch {
 public:
  AnchorSearch(const std::vector<const Local*>& nodes, int anchor, int nodes_max,
               std::size_t sets_max)
      : nodes_(nodes), anchor_(anchor), nodes_max_(nodes_max), sets_max_(sets_max) {}

  std::vector<Positions> run() {
    if (at(anchor_).allowed) {
      members_ = {anchor_};
      reached_ = {anchor_};
      grow(new_neighbours(anchor_), at(anchor_).view ? 0 : 1);
    }
    std::ranges::sort(found_, [](const Positions& a, const Positions& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return std::move(found_);
  }

  int last_touched() const { return last_touched_; }

 private:
  const Local& at(int position) {
    last_touched_ = std::max(last_touched_, position);
    return *nodes_[static_cast<std::size_t>(position)];
  }

  Positions new_neighbours(int position) {
    Positions fresh;
    for (const int offset : at(position).neighbours) {
      const int to = position + offset;
      if (to > anchor_ && at(to).allowed && reached_.insert(to).second) {
        fresh.push_back(to);
      }
    }
    return fresh;
  }

  void grow(Positions extension, int counted) {
    if (counted >= 2) {
      keep();
    }
    while (!extension.empty() && found_.size() < sets_max_) {
      const int next = extension.back();
      extension.pop_back();
      const int total = counted + (at(next).view ? 0 : 1);
      if (total > nodes_max_) {
        continue;
      }
      const Positions fresh = new_neighbours(next);
      Positions wider = extension;
      wider.insert(wider.end(), fresh.begin(), fresh.end());
      members_.push_back(next);
      grow(std::move(wider), total);
      members_.pop_back();
      for (const int undo : fresh) {
        reached_.erase(undo);
      }
    }
  }

  void keep() {
    Positions sorted = members_;
    std::ranges::sort(sorted);
    if (views_belong(sorted) && convex(sorted) && closed(sorted)) {
      for (int& position : sorted) {
        position -= anchor_;
      }
      found_.push_back(std::move(sorted));
    }
  }

  // A view that nobody inside reads changes nothing: the set without it is the same work. One that
  // only comes in and is read outside too would have to be copied: the set without it is less work.
  bool views_belong(const Positions& sorted) {
    return std::ranges::all_of(sorted, [&](int member) {
      const Local& local = at(member);
      if (!local.view) {
        return true;
      }
      bool made_inside = false;
      bool read_inside = false;
      bool read_outside = local.exposed;
      for (const int offset : local.neighbours) {
        const bool inside = std::ranges::binary_search(sorted, member + offset);
        made_inside = made_inside || (offset < 0 && inside);
        read_inside = read_inside || (offset > 0 && inside);
        read_outside = read_outside || (offset > 0 && !inside);
      }
      return read_inside && (made_inside || !read_outside);
    });
  }

  bool convex(const Positions& sorted) {
    std::set<int> seen;
    Positions open;
    for (const int member : sorted) {
      if (!leave(member, false, sorted, seen, open)) {
        return false;
      }
    }
    while (!open.empty()) {
      const int position = open.back();
      open.pop_back();
      if (!leave(position, true, sorted, seen, open)) {
        return false;
      }
    }
    return true;
  }

  // Follows the edges out of a node; false when one from outside comes back into the set.
  bool leave(int from, bool outside, const Positions& sorted, std::set<int>& seen,
             Positions& open) {
    for (const int offset : at(from).successors) {
      const int to = from + offset;
      if (to > sorted.back()) {
        break;
      }
      if (std::ranges::binary_search(sorted, to)) {
        if (outside) {
          return false;
        }
      } else if (seen.insert(to).second) {
        open.push_back(to);
      }
    }
    return true;
  }

  bool closed(const Positions& sorted) {
    for (const int member : sorted) {
      for (const int offset : at(member).late_readers) {
        if (!std::ranges::binary_search(sorted, member + offset)) {
          return false;
        }
      }
    }
    return true;
  }

  const std::vector<const Local*>& nodes_;
  int anchor_;
  int nodes_max_;
  std::size_t sets_max_;
  int last_touched_ = 0;
  Positions members_;
  std::set<int> reached_;
  std::vector<Positions> found_;
};

struct Known {
  std::vector<const Local*> stretch;  // descriptors from the anchor to the last node looked at
  std::vector<Positions> sets;        // offsets from the anchor
};

}  // namespace

std::vector<NodeSet> enumerate_regions(const Graph& graph, const EnumerateOptions& options) {
  const std::set<TensorId> outputs(graph.outputs.begin(), graph.outputs.end());
  std::set<Local> interned;
  std::vector<const Local*> nodes;
  nodes.reserve(graph.nodes().size());
  for (std::size_t at = 0; at < graph.nodes().size(); ++at) {
    nodes.push_back(&*interned.insert(describe(graph, at, options, outputs)).first);
  }
  std::map<const Local*, std::vector<Known>> known;
  std::vector<NodeSet> result;
  for (std::size_t anchor = 0; anchor < nodes.size(); ++anchor) {
    const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(anchor);
    std::vector<Known>& same = known[nodes[anchor]];
    auto match = std::ranges::find_if(same, [&](const Known& k) {
      return k.stretch.size() <= nodes.size() - anchor &&
             std::equal(k.stretch.begin(), k.stretch.end(), begin);
    });
    if (match == same.end()) {
      AnchorSearch search(nodes, static_cast<int>(anchor), options.nodes_max, options.regions_max);
      std::vector<Positions> sets = search.run();
      const auto end = nodes.begin() + search.last_touched() + 1;
      match = same.insert(same.end(), Known{{begin, std::max(begin + 1, end)}, std::move(sets)});
    }
    for (const Positions& offsets_of_set : match->sets) {
      if (result.size() >= options.regions_max) {
        return result;
      }
      NodeSet set;
      set.nodes.reserve(offsets_of_set.size());
      for (const int offset : offsets_of_set) {
        set.nodes.push_back(graph.nodes()[anchor + static_cast<std::size_t>(offset)].id);
      }
      result.push_back(std::move(set));
    }
  }
  return result;
}

}  // namespace fusefarm::graph
