// Proposers by the names a campaign uses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/schedule.h"
#include "records/proposer.h"

namespace fusefarm::search {

struct ProposerSet {
  std::vector<std::unique_ptr<Proposer>> owned;
  // Which nodes can be a member of any proposer's region: keeps enumeration small.
  std::function<bool(const graph::Node&)> may_contain;

  std::vector<Proposer*> borrowed() const;
};

// Errors: kInvalidArgument names the unknown proposer and the known ones.
Result<ProposerSet> make_proposers(const std::vector<std::string>& names,
                                   const codegen::Roofs& roofs);

}  // namespace fusefarm::search
