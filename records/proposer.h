// Where search, llm and replay meet: context in, plans out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "graph/graph.h"
#include "records/hypothesis.h"
#include "records/outcome.h"
#include "records/workload.h"

namespace fusefarm {

struct ProposalContext {
  const graph::Graph* region = nullptr;  // canonical form; borrowed for the call
  Digest signature;
  Workload workload;
  int threads = 1;
  std::uint64_t seed = 1;
  int round = 0;
  std::vector<const Outcome*> history;  // of this region and bucket, oldest first; borrowed
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  // True when it has an implementation for this region's shape of graph at all. Pure and quick: it
  // filters tens of thousands of enumerated regions.
  virtual bool can_implement(const graph::Graph& region) const = 0;
  // At most `plans_max` plans, deterministic in the context. An empty list: nothing (more) to try.
  virtual Result<std::vector<Plan>> propose(const ProposalContext& context, int plans_max) = 0;
};

}  // namespace fusefarm
