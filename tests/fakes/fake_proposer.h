// A proposer over a one-parameter schedule space without code: for tests with a FakeWorker.
#pragma once

#include <string>

#include "records/proposer.h"
#include "search/make_proposers.h"

namespace fusefarm::fakes {

class FakeProposer final : public Proposer {
 public:
  std::string name() const override { return "fake"; }

  bool can_implement(const graph::Graph& region) const override;
  // Tiles 1..16 in the first round, neighbours of the best afterwards.
  Result<std::vector<Plan>> propose(const ProposalContext& context, int plans_max) override;

  static Candidate candidate(const Digest& region, const std::string& workload, std::int64_t tile);
};

// In place of search::make_proposers: every name gives a FakeProposer.
Result<search::ProposerSet> make_fake_proposers(const std::vector<std::string>& names,
                                                const codegen::Roofs& roofs);

}  // namespace fusefarm::fakes
