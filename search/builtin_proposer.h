// The proposer that needs no LLM: points of codegen's schedule space, first by its analytic
// prediction, then around what measured best.
#pragma once

#include <map>

#include "codegen/schedule.h"
#include "records/proposer.h"

namespace fusefarm::search {

// One thread. Keeps only what it proposed (digest -> schedule), so that a replay of the same calls
// rebuilds it.
class BuiltinProposer final : public Proposer {
 public:
  explicit BuiltinProposer(const codegen::Roofs& roofs = {}) : roofs_(roofs) {}

  std::string name() const override { return "builtin"; }

  bool can_implement(const graph::Graph& region) const override;
  Result<std::vector<Plan>> propose(const ProposalContext& context, int plans_max) override;

 private:
  struct Made {
    codegen::Schedule schedule;
  };

  // The analytic ranking of a whole space is slow enough to be kept between rounds.
  const std::vector<codegen::Schedule>& ranked(const ProposalContext& context,
                                               const codegen::ScheduleSpace& space,
                                               std::size_t count);

  codegen::Roofs roofs_;
  std::map<Digest, Made> made_;
  std::map<Digest, std::vector<codegen::Schedule>> ranked_;  // by region and workload
};

}  // namespace fusefarm::search
