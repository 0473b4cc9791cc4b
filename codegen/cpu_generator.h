// The built-in proposer's CPU half: region + schedule -> self-contained C++ source and launch plan.
// Deterministic: equal inputs give equal text.
#pragma once

#include "base/digest.h"
#include "codegen/pattern.h"
#include "codegen/schedule.h"
#include "graph/graph.h"
#include "records/candidate.h"

namespace fusefarm::codegen {

// `schedule` must be valid in ScheduleSpace(region, plan, bindings, threads). The candidate is
// specialised for these bindings: it is right for no other token count. `signature` is that of the
// canonical region.
Candidate generate(const graph::Graph& region, const Digest& signature, const RegionPlan& plan,
                   const Schedule& schedule, int threads, const graph::Bindings& bindings);

// A library step per node: the unfused incumbent in a candidate's clothes.
Candidate noop_candidate(const graph::Graph& region, const Digest& signature);

}  // namespace fusefarm::codegen
