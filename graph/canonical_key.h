// What of a node or a tensor belongs to a signature, as a string that two processes write alike.
#pragma once

#include <string>

#include "graph/graph.h"

namespace fusefarm::graph {

std::string attrs_key(const Attrs& attrs);
// Op, attributes, aliases, arity; of a kRegion also what its body computes.
std::string node_key(const Node& node);
// Kind, dtype, shape. Names and the scale of random values are not part of it.
std::string tensor_key(const Tensor& tensor);

// Inputs may be exchanged without a change of any result bit.
bool is_commutative(OpKind op);

}  // namespace fusefarm::graph
