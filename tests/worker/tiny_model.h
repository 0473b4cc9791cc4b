// A model small enough for a test, and its regions as a coordinator would hand them out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/region.h"
#include "records/job.h"

namespace fusefarm::worker {

std::shared_ptr<const graph::Graph> tiny_model();
Workload tiny_decode();
Workload tiny_prefill();

// A screen job (without candidates) on the first occurrence of adjacent nodes with these ops.
ScreenJob tiny_region(const std::shared_ptr<const graph::Graph>& model,
                      const std::vector<graph::OpKind>& ops, const Workload& workload);

}  // namespace fusefarm::worker
