#include "search/noop_proposer.h"

#include <algorithm>
#include <utility>

#include "codegen/cpu_generator.h"

namespace fusefarm::search {

bool NoopProposer::can_implement(const graph::Graph& region) const {
  return std::none_of(region.nodes().begin(), region.nodes().end(),
                      [](const graph::Node& node) { return graph::is_collective(node.op); });
}

Result<std::vector<Plan>> NoopProposer::propose(const ProposalContext& context, int plans_max) {
  std::vector<Plan> plans;
  if (context.round > 0 || plans_max <= 0) {
    return plans;
  }
  Hypothesis hypothesis;
  hypothesis.family = "noop";
  hypothesis.mechanism = "none: the incumbent's own steps";
  hypothesis.falsifier = "any measured gain is an error of the measurement";
  Candidate candidate = codegen::noop_candidate(*context.region, context.signature);
  candidate.origin = name();
  candidate.family = "noop";
  Plan plan;
  plan.hypotheses.push_back(std::move(hypothesis));
  plan.units.push_back({"incumbent", 0, std::move(candidate), {}});
  plan.rationale = "control";
  plans.push_back(std::move(plan));
  return plans;
}

}  // namespace fusefarm::search
