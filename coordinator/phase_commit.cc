#include "coordinator/phase_commit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace fusefarm::coordinator {
namespace {

constexpr double kIntegrationShare = 0.25;  // of the budget, at most
// Below this share x gain a region can't be told from noise in the whole model.
constexpr double kDetectableGain = 0.006;

bool overlaps(const std::set<graph::NodeId>& taken, const search::RegionGroup& group) {
  return std::any_of(group.occurrences.begin(), group.occurrences.end(),
                     [&](const graph::NodeSet& set) {
                       return std::any_of(set.nodes.begin(), set.nodes.end(),
                                          [&](graph::NodeId id) { return taken.contains(id); });
                     });
}

std::vector<std::string> contained_names(const graph::Graph& graph,
                                         const search::RegionGroup& group) {
  std::vector<std::string> names;
  for (const graph::NodeId id : group.occurrences.front().nodes) {
    const graph::Node& node = graph.node(id);
    if (graph::is_view(node.op)) {
      continue;
    }
    names.push_back(node.op == graph::OpKind::kRegion
                        ? "region:" + search::signature_of(node).short_hex()
                        : std::string(graph::to_string(node.op)));
  }
  return names;
}

std::string provenance_of(const Confirmed& part) {
  return nlohmann::json{{"share", part.share},
                        {"log_gain", part.outcome.confirmation->estimate},
                        {"origin", part.candidate.origin},
                        {"family", part.candidate.family}}
      .dump();
}

}  // namespace

PhaseCommit::PhaseCommit(Parts parts, const search::PhasePlan& plan, int phase)
    : parts_(parts), desk_(parts), plan_(plan), phase_(phase) {}

std::vector<PhaseCommit::Proposal> PhaseCommit::proposals(std::vector<Confirmed> confirmed) const {
  std::map<std::size_t, Proposal> by_region;
  for (Confirmed& one : confirmed) {
    Proposal& proposal = by_region[one.region];
    proposal.region = one.region;
    const Interval& gain = *one.outcome.confirmation;
    proposal.value += one.share * (std::isfinite(gain.lo) ? gain.lo : 0.5 * gain.estimate);
    proposal.parts.push_back(std::move(one));
  }
  std::vector<Proposal> order;
  for (auto& [region, proposal] : by_region) {
    order.push_back(std::move(proposal));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Proposal& a, const Proposal& b) { return a.value > b.value; });
  // Conflicts go to the next phase: the graph they would be cut from is gone.
  std::set<graph::NodeId> taken;
  std::vector<Proposal> disjoint;
  for (Proposal& proposal : order) {
    const search::RegionGroup& group = plan_.regions[proposal.region].group;
    if (overlaps(taken, group)) {
      continue;
    }
    for (const graph::NodeSet& set : group.occurrences) {
      taken.insert(set.nodes.begin(), set.nodes.end());
    }
    disjoint.push_back(std::move(proposal));
  }
  return disjoint;
}

std::vector<std::vector<PhaseCommit::Proposal>> PhaseCommit::batches(
    std::vector<Proposal> all) const {
  const CampaignState& state = parts_.state;
  const auto large =
      static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Proposal& proposal) {
        return proposal.value >= kDetectableGain;
      }));
  const double allowance = state.ledger.limited() ? kIntegrationShare * state.ledger.total() -
                                                        state.ledger.spent("integrate")
                                                  : std::numeric_limits<double>::infinity();
  // One more each for the batch of small ones and for the end-to-end test.
  const double wanted = static_cast<double>(large + 2) * state.integrate_cost.seconds();
  std::vector<std::vector<Proposal>> result;
  std::vector<Proposal> together;
  for (Proposal& proposal : all) {
    if (proposal.value >= kDetectableGain && wanted <= allowance) {
      result.emplace_back();
      result.back().push_back(std::move(proposal));
    } else {
      together.push_back(std::move(proposal));
    }
  }
  if (!together.empty()) {
    result.push_back(std::move(together));
  }
  return result;
}

Result<PhaseCommit::Applied> PhaseCommit::apply(const std::vector<Proposal>& batch) const {
  graph::Graph graph = *parts_.state.current.graph;
  Applied applied;
  applied.version.implementations = parts_.state.current.implementations;
  for (const Proposal& proposal : batch) {
    const search::RegionGroup& group = plan_.regions[proposal.region].group;
    std::vector<search::Contraction> made;
    if (group.revisit) {
      for (const graph::NodeSet& set : group.occurrences) {
        made.push_back({set.nodes.front(), set.nodes});
      }
    } else {
      graph = TRY(search::contract_group(graph, group, &made));
    }
    applied.contractions.push_back(std::move(made));
    for (const Confirmed& part : proposal.parts) {
      applied.version.implementations[{group.signature, part.workload.name}] = part.candidate;
    }
  }
  applied.version.graph = std::make_shared<const graph::Graph>(std::move(graph));
  return applied;
}

Result<std::vector<RewriteId>> PhaseCommit::propose(const std::vector<Proposal>& batch,
                                                    const Applied& applied) {
  const CampaignState& state = parts_.state;
  const Digest from = store::graph_hash(*state.current.graph);
  const Digest to = store::graph_hash(*applied.version.graph);
  store::GraphVersionRow version;
  version.campaign = parts_.journal.campaign().id;
  version.hash = to;
  version.version = applied.version.graph->version;
  version.parent = from;
  version.provenance = nlohmann::json{{"phase", phase_}, {"regions", batch.size()}}.dump();
  TRY(parts_.journal.store().save_graph_version(version, *applied.version.graph));
  std::vector<RewriteId> ids;
  for (const Proposal& proposal : batch) {
    const search::RegionGroup& group = plan_.regions[proposal.region].group;
    for (const Confirmed& part : proposal.parts) {
      store::RewriteRow row;
      row.campaign = version.campaign;
      row.phase = phase_;
      row.region = group.signature;
      row.contains = contained_names(*state.current.graph, group);
      row.workload = part.workload.name;
      row.candidate = part.candidate.digest();
      row.confirmation = part.outcome.experiment;
      row.graph_from = from;
      row.graph_to = to;
      row.provenance = provenance_of(part);
      ids.push_back(TRY(parts_.journal.propose_rewrite(row)));
    }
  }
  TRY(parts_.journal.commit());
  return ids;
}

Result<IntegrationResult> PhaseCommit::integrate(const Applied& applied) {
  IntegrationResult result =
      TRY(desk_.integrate("integration", phase_, parts_.state.current, applied.version));
  const CampaignState& state = parts_.state;
  if (is_infrastructure(result.verdict.klass) &&
      state.ledger.affords(state.integrate_cost.seconds())) {
    result = TRY(desk_.integrate("integration", phase_, parts_.state.current, applied.version));
  }
  return result;
}

void PhaseCommit::note(const Proposal& proposal, const IntegrationResult& result, bool committed) {
  const search::RegionGroup& group = plan_.regions[proposal.region].group;
  CampaignState& state = parts_.state;
  for (const Confirmed& part : proposal.parts) {
    RewriteRecord record;
    record.region = group.signature;
    record.pattern = group.pattern;
    record.phase = phase_;
    record.occurrences = static_cast<int>(group.occurrences.size());
    record.contains = contained_names(*state.current.graph, group);
    record.workload = part.workload.name;
    record.candidate = part.candidate;
    record.confirmation = part.outcome;
    record.share = part.share;
    record.committed = committed;
    record.integration = result;
    record.graph_version = state.current.graph->version;
    state.rewrites.push_back(std::move(record));
  }
}

Result<void> PhaseCommit::keep(const std::vector<Proposal>& batch, Applied applied,
                               const IntegrationResult& result, const std::vector<RewriteId>& ids) {
  CampaignState& state = parts_.state;
  TRY(parts_.journal.decide_rewrites(ids, store::RewriteState::kCommitted, result));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    note(batch[i], result, true);
    std::map<std::string, double> gain;
    for (const Confirmed& part : batch[i].parts) {
      gain[part.workload.name] = part.outcome.confirmation->estimate;
    }
    for (const search::Contraction& made : applied.contractions[i]) {
      state.view.contract(made.members, made.node, gain);
    }
  }
  state.current = std::move(applied.version);
  for (std::size_t i = state.rewrites.size(); i-- > 0 && state.rewrites[i].phase == phase_;) {
    if (state.rewrites[i].committed) {
      state.rewrites[i].graph_version = state.current.graph->version;
    }
  }
  return {};
}

Result<int> PhaseCommit::commit(std::vector<Proposal> batch) {
  if (batch.empty()) {
    return 0;
  }
  Applied applied = TRY(apply(batch));
  const std::vector<RewriteId> ids = TRY(propose(batch, applied));
  desk_.report("integrate", phase_,
               fmt::format("phase {}: integrating {} region{}", phase_, batch.size(),
                           batch.size() == 1 ? "" : "s"),
               true);
  const IntegrationResult result = TRY(integrate(applied));
  if (result.ok) {
    TRY(keep(batch, std::move(applied), result, ids));
    return static_cast<int>(batch.size());
  }
  TRY(parts_.journal.decide_rewrites(ids, store::RewriteState::kRolledBack, result));
  logger("coordinator")
      .info("integration_failed phase={} regions={} verdict={} reason={}", phase_, batch.size(),
            to_string(result.verdict.klass), result.verdict.reason);
  if (batch.size() == 1) {
    note(batch.front(), result, false);
    // Not tried again on this incumbent; infrastructure's failures are.
    if (!is_infrastructure(result.verdict.klass)) {
      parts_.state.settled.insert(search::region_key(plan_.regions[batch.front().region].group));
    }
    return 0;
  }
  const auto half = static_cast<std::ptrdiff_t>(batch.size() / 2);
  std::vector<Proposal> second(std::make_move_iterator(batch.begin() + half),
                               std::make_move_iterator(batch.end()));
  batch.resize(static_cast<std::size_t>(half));
  const int first_committed = TRY(commit(std::move(batch)));
  return first_committed + TRY(commit(std::move(second)));
}

Result<int> PhaseCommit::run(std::vector<Confirmed> confirmed) {
  int committed = 0;
  for (std::vector<Proposal>& batch : batches(proposals(std::move(confirmed)))) {
    committed += TRY(commit(std::move(batch)));
  }
  return committed;
}

}  // namespace fusefarm::coordinator
