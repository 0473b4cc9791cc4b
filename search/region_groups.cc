#include "search/region_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"

namespace fusefarm::search {
namespace {

std::string pattern_of(const graph::Graph& region) {
  std::vector<std::string> ops;
  std::string pattern;
  for (const graph::Node& node : region.nodes()) {
    if (graph::is_view(node.op)) {
      continue;
    }
    if (!pattern.empty()) {
      pattern += '+';
    }
    pattern += graph::to_string(node.op);
  }
  return pattern;
}

int counted_members(const graph::Graph& model, const graph::NodeSet& set) {
  return static_cast<int>(std::count_if(set.nodes.begin(), set.nodes.end(), [&](graph::NodeId id) {
    return !graph::is_view(model.node(id).op);
  }));
}

// Nodes of `region` that compute `outputs` from `inputs`.
std::vector<graph::NodeId> nodes_between(const graph::Graph& region,
                                         const std::set<graph::TensorId>& inputs,
                                         const std::vector<graph::TensorId>& outputs) {
  std::set<graph::NodeId> found;
  std::vector<graph::TensorId> open = outputs;
  while (!open.empty()) {
    const graph::TensorId tensor = open.back();
    open.pop_back();
    if (inputs.contains(tensor)) {
      continue;
    }
    const graph::Node* producer = region.producer(tensor);
    if (producer == nullptr || !found.insert(producer->id).second) {
      continue;
    }
    open.insert(open.end(), producer->inputs.begin(), producer->inputs.end());
  }
  std::vector<graph::NodeId> result;
  for (const graph::Node& node : region.nodes()) {
    if (found.contains(node.id)) {
      result.push_back(node.id);
    }
  }
  return result;
}

// `region` with the member that occupies `inner` contracted again.
Result<graph::Graph> contract_member(const graph::Graph& region, const graph::Node& member,
                                     const std::map<graph::TensorId, graph::TensorId>& canonical) {
  std::set<graph::TensorId> inputs;
  std::vector<graph::TensorId> outputs;
  for (const graph::TensorId id : member.inputs) {
    inputs.insert(canonical.at(id));
  }
  for (const graph::TensorId id : member.outputs) {
    const auto found = canonical.find(id);
    if (found != canonical.end()) {
      outputs.push_back(found->second);
    }
  }
  const std::vector<graph::NodeId> inside = nodes_between(region, inputs, outputs);
  graph::Graph contracted = TRY(graph::contract(region, inside));
  const graph::Node* made = contracted.producer(outputs.front());
  if (made == nullptr || signature_of(*made) != signature_of(member)) {
    return Error{ErrorCode::kInternal, "accepted region " + signature_of(member).short_hex() +
                                           " is not found again inside a larger one"};
  }
  return with_bodies(contracted, {{made->id, member.body}});
}

Result<std::shared_ptr<const graph::Graph>> incumbent_of(const graph::Graph& model,
                                                         const graph::NodeSet& set,
                                                         const RegionGroup& group) {
  std::map<graph::TensorId, graph::TensorId> canonical;
  for (std::size_t i = 0; i < group.tensor_of.size(); ++i) {
    canonical.emplace(group.tensor_of[i], static_cast<graph::TensorId>(i));
  }
  graph::Graph incumbent = *group.region;
  for (const graph::NodeId id : set.nodes) {
    const graph::Node& member = model.node(id);
    if (member.op == graph::OpKind::kRegion) {
      incumbent = TRY(contract_member(incumbent, member, canonical));
    }
  }
  std::shared_ptr<const graph::Graph> shared =
      std::make_shared<const graph::Graph>(std::move(incumbent));
  return shared;
}

Result<RegionGroup> new_group(const graph::Graph& model, const graph::NodeSet& set,
                              graph::Canonical canonical) {
  RegionGroup group;
  group.signature = canonical.signature;
  group.pattern = pattern_of(canonical.graph);
  group.tensor_of = std::move(canonical.tensor_of);
  // Shared: groups outlive the catalogue and go into jobs on the worker's thread.
  group.region = std::make_shared<const graph::Graph>(std::move(canonical.graph));
  group.incumbent = group.region;
  group.members = counted_members(model, set);
  for (const graph::NodeId id : set.nodes) {
    const graph::Node& node = model.node(id);
    if (node.op == graph::OpKind::kRegion) {
      group.contains.push_back(signature_of(node));
    }
  }
  if (!group.contains.empty()) {
    group.incumbent = TRY(incumbent_of(model, set, group));
  }
  return group;
}

// Two sets of one signature may still hold different accepted regions (layers that were rewritten
// differently); those are different incumbents, so different groups.
std::string group_key(const graph::Graph& model, const graph::NodeSet& set,
                      const Digest& signature) {
  std::string key = signature.hex();
  for (const graph::NodeId id : set.nodes) {
    const graph::Node& node = model.node(id);
    if (node.op == graph::OpKind::kRegion) {
      key += "/" + signature_of(node).hex();
    }
  }
  return key;
}

bool disjoint_from(const std::vector<graph::NodeSet>& sets, const graph::NodeSet& set) {
  return std::none_of(sets.begin(), sets.end(), [&](const graph::NodeSet& other) {
    return std::any_of(set.nodes.begin(), set.nodes.end(), [&](graph::NodeId id) {
      return std::find(other.nodes.begin(), other.nodes.end(), id) != other.nodes.end();
    });
  });
}

}  // namespace

Digest signature_of(const graph::Node& region_node) {
  return Digest::from_hex(region_node.attrs.text("signature")).value_or(Digest{});
}

graph::Graph with_bodies(
    const graph::Graph& source,
    const std::map<graph::NodeId, std::shared_ptr<const graph::Graph>>& bodies) {
  graph::Graph result;
  for (const auto& [id, tensor] : source.tensors()) {
    result.add_tensor(tensor);
  }
  for (const graph::Node& node : source.nodes()) {
    graph::Node copy = node;
    if (const auto found = bodies.find(node.id); found != bodies.end()) {
      copy.body = found->second;
    }
    result.add_node(std::move(copy));
  }
  result.inputs = source.inputs;
  result.outputs = source.outputs;
  result.version = source.version;
  result.next_id = source.next_id;
  return result;
}

Result<RegionCatalogue> catalogue_regions(const graph::Graph& model, const GroupOptions& options) {
  graph::EnumerateOptions enumerate;
  enumerate.nodes_max = options.nodes_max;
  enumerate.regions_max = options.regions_max;
  enumerate.may_contain = options.may_contain;
  const std::vector<graph::NodeSet> sets = graph::enumerate_regions(model, enumerate);
  RegionCatalogue catalogue;
  catalogue.enumerated = sets.size();
  std::map<std::string, std::size_t> index;
  for (const graph::NodeSet& set : sets) {
    const graph::Graph region = TRY(graph::extract_region(model, set.nodes));
    if (!options.can_implement(region)) {
      continue;
    }
    ++catalogue.implementable;
    graph::Canonical canonical = graph::canonicalise(region);
    const std::string key = group_key(model, set, canonical.signature);
    const auto [entry, inserted] = index.try_emplace(key, catalogue.groups.size());
    if (inserted) {
      catalogue.groups.push_back(TRY(new_group(model, set, std::move(canonical))));
    }
    RegionGroup& group = catalogue.groups[entry->second];
    if (disjoint_from(group.occurrences, set)) {
      group.occurrences.push_back(set);
    }
  }
  return catalogue;
}

Result<std::vector<RegionGroup>> accepted_regions(const graph::Graph& model) {
  std::vector<RegionGroup> groups;
  std::map<Digest, std::size_t> index;
  for (const graph::Node& node : model.nodes()) {
    if (node.op != graph::OpKind::kRegion) {
      continue;
    }
    const graph::NodeSet set{{node.id}};
    const auto [entry, inserted] = index.try_emplace(signature_of(node), groups.size());
    if (inserted) {
      const graph::Graph region = TRY(graph::extract_region(model, set.nodes));
      RegionGroup group = TRY(new_group(model, set, graph::canonicalise(region)));
      group.revisit = true;
      group.contains.clear();
      group.incumbent = node.body;
      groups.push_back(std::move(group));
    }
    groups[entry->second].occurrences.push_back(set);
  }
  return groups;
}

Result<graph::Graph> contract_group(const graph::Graph& model, const RegionGroup& group,
                                    std::vector<Contraction>* made) {
  graph::Graph current = model;
  std::map<graph::NodeId, std::shared_ptr<const graph::Graph>> bodies;
  for (const graph::NodeSet& set : group.occurrences) {
    std::set<graph::NodeId> before;
    for (const graph::Node& node : current.nodes()) {
      before.insert(node.id);
    }
    current = TRY(graph::contract(current, set.nodes));
    for (const graph::Node& node : current.nodes()) {
      if (before.contains(node.id)) {
        continue;
      }
      bodies.emplace(node.id, group.incumbent);
      if (made != nullptr) {
        made->push_back({node.id, set.nodes});
      }
    }
  }
  graph::Graph result = with_bodies(current, bodies);
  result.version = model.version + 1;
  return result;
}

}  // namespace fusefarm::search
