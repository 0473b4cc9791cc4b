// Which library is fastest for one GEMM on this device: the strength of the baseline.
#pragma once

#include "records/job.h"
#include "worker/session.h"

namespace fusefarm::worker {

GemmKey gemm_key(const graph::Graph& graph, const graph::Node& linear,
                 const graph::Bindings& bindings);

// Times packed, openblas and onednn on a weight of this shape of the model, in slots taken in turn.
// Libraries that can't do it are left out.
Result<GemmChoice> race_gemm(Session& session, const GemmKey& key, const ModelMemory& model);

}  // namespace fusefarm::worker
