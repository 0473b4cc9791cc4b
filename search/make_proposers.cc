#include "search/make_proposers.h"

#include <algorithm>

#include "base/text.h"
#include "codegen/pattern.h"
#include "search/builtin_proposer.h"
#include "search/noop_proposer.h"

namespace fusefarm::search {

std::vector<Proposer*> ProposerSet::borrowed() const {
  std::vector<Proposer*> result;
  for (const std::unique_ptr<Proposer>& proposer : owned) {
    result.push_back(proposer.get());
  }
  return result;
}

Result<ProposerSet> make_proposers(const std::vector<std::string>& names,
                                   const codegen::Roofs& roofs) {
  ProposerSet set;
  bool anything = false;
  for (const std::string& name : names) {
    if (name == "builtin") {
      set.owned.push_back(std::make_unique<BuiltinProposer>(roofs));
    } else if (name == "noop") {
      set.owned.push_back(std::make_unique<NoopProposer>());
      anything = true;
    } else {
      return Error{ErrorCode::kInvalidArgument,
                   "search.proposers: '" + name + "' is not one of builtin, noop"};
    }
  }
  set.may_contain = [anything](const graph::Node& node) {
    if (graph::is_collective(node.op)) {
      return false;
    }
    return anything || node.op == graph::OpKind::kRegion || codegen::may_fuse(node);
  };
  return set;
}

}  // namespace fusefarm::search
