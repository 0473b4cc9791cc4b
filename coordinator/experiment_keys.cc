#include "coordinator/experiment_keys.h"

#include <vector>

#include <fmt/format.h>

#include "verify/verdict_rule.h"

namespace fusefarm::coordinator {
namespace {

void collect_regions(const graph::Graph& graph, std::vector<Digest>& signatures) {
  for (const graph::Node& node : graph.nodes()) {
    if (node.op != graph::OpKind::kRegion) {
      continue;
    }
    signatures.push_back(search::signature_of(node));
    if (node.body) {
      collect_regions(*node.body, signatures);
    }
  }
}

// Whatever a verdict depends on besides the experiment's subject.
std::string protocol(const CampaignState& state) {
  return fmt::format("rules={} min_gain={} false_accept={} threads={} isolation={}",
                     verify::kVerdictRuleVersion, state.spec.gate.min_gain,
                     state.spec.gate.false_accept, state.threads, state.profile.isolation);
}

}  // namespace

ImplementationTable implementations_inside(const search::RegionGroup& group,
                                           const ImplementationTable& table,
                                           const std::string& workload) {
  std::vector<Digest> signatures;
  collect_regions(*group.incumbent, signatures);
  ImplementationTable result;
  for (const Digest& signature : signatures) {
    const auto found = table.find({signature, workload});
    if (found != table.end()) {
      result.insert(*found);
    }
  }
  return result;
}

Digest incumbent_digest(const search::RegionGroup& group, const ImplementationTable& table,
                        const std::string& workload) {
  const ImplementationTable implementations = implementations_inside(group, table, workload);
  if (implementations.empty()) {
    return Digest{};
  }
  DigestBuilder builder;
  for (const auto& [key, candidate] : implementations) {
    builder.add(key.first).add(candidate.digest());
  }
  return builder.finish();
}

Digest version_digest(const ModelVersion& version) {
  DigestBuilder builder;
  builder.add(store::graph_hash(*version.graph));
  for (const auto& [key, candidate] : version.implementations) {
    builder.add(key.first).add(key.second).add(candidate.digest());
  }
  return builder.finish();
}

store::ExperimentKey region_key(const CampaignState& state, store::ExperimentKind kind,
                                const search::RegionGroup& group, const Workload& workload,
                                const Candidate& candidate) {
  store::ExperimentKey result;
  result.kind = kind;
  result.region = group.signature;
  result.workload = workload;
  result.candidate = candidate.digest();
  result.incumbent = incumbent_digest(group, state.current.implementations, workload.name);
  result.device_class = state.profile.device_class;
  result.toolchain = state.profile.toolchain;
  result.protocol = protocol(state);
  return result;
}

store::ExperimentKey model_key(const CampaignState& state, store::ExperimentKind kind,
                               const ModelVersion& before, const ModelVersion& after) {
  store::ExperimentKey result;
  result.kind = kind;
  result.candidate = version_digest(after);
  result.incumbent = version_digest(before);
  result.device_class = state.profile.device_class;
  result.toolchain = state.profile.toolchain;
  result.protocol = protocol(state);
  for (const Workload& workload : state.spec.workloads) {
    result.protocol += fmt::format(" {}:{}:{}:{}:{}", to_string(workload.phase), workload.batch,
                                   workload.context, workload.tokens, workload.weight);
  }
  return result;
}

}  // namespace fusefarm::coordinator
