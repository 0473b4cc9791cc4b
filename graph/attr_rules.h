// Which attributes each op has, and of which type.
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace fusefarm::graph {

// Required attributes present, no unknown ones, each of its type and in its range.
Result<void> check_attrs(const Node& node);

}  // namespace fusefarm::graph
