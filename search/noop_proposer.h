// Proposes the incumbent itself in a candidate's clothes: whatever gates it must find no gain. A
// control for the whole farm, not a search.
#pragma once

#include "records/proposer.h"

namespace fusefarm::search {

class NoopProposer final : public Proposer {
 public:
  std::string name() const override { return "noop"; }

  bool can_implement(const graph::Graph& region) const override;
  Result<std::vector<Plan>> propose(const ProposalContext& context, int plans_max) override;
};

}  // namespace fusefarm::search
