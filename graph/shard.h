// How a model's dims are shared by the ranks of a tensor-parallel group.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "graph/model_import.h"

namespace fusefarm::graph {

// Sizes on one rank.
struct Shard {
  std::int64_t ranks = 1;
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t intermediate = 0, expert_intermediate = 0;
  std::int64_t vocabulary = 0;
  bool kv_replicated = false;  // fewer KV heads than ranks: each rank holds one, several the same
};

// Errors: kInvalidArgument, naming dim, value and ranks that would do.
Result<Shard> shard_of(const ModelConfig& config, std::int64_t ranks);

}  // namespace fusefarm::graph
