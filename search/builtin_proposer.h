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

  codegen::Roofs roofs_;
  std::map<Digest, Made> made_;
};

}  // namespace fusefarm::search
