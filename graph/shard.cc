#include "graph/shard.h"

#include <string>
#include <vector>

#include "base/text.h"

namespace fusefarm::graph {
namespace {

bool shares(std::int64_t value, std::int64_t ranks) { return value % ranks == 0; }

bool kv_shares(std::int64_t kv_heads, std::int64_t ranks) {
  return kv_heads >= ranks ? shares(kv_heads, ranks) : shares(ranks, kv_heads);
}

bool all_share(const ModelConfig& config, std::int64_t ranks) {
  return shares(config.heads, ranks) && kv_shares(config.kv_heads, ranks) &&
         shares(config.intermediate, ranks) && shares(config.vocabulary, ranks) &&
         shares(config.expert_intermediate, ranks);
}

Error not_shared(const ModelConfig& config, std::int64_t ranks, const char* key,
                 std::int64_t value) {
  std::vector<std::string> possible;
  for (std::int64_t n = 1; n <= 64; ++n) {
    if (all_share(config, n)) {
      possible.push_back(std::to_string(n));
    }
  }
  return Error{ErrorCode::kInvalidArgument,
               "key '" + std::string(key) + "' is " + std::to_string(value) + ": " +
                   std::to_string(ranks) +
                   " tensor-parallel ranks can't share it equally; ranks that this model allows: " +
                   join(possible, ", ")};
}

}  // namespace

Result<Shard> shard_of(const ModelConfig& config, std::int64_t ranks) {
  if (ranks < 1 || ranks > 1024) {
    return Error{ErrorCode::kInvalidArgument,
                 "tensor-parallel size is " + std::to_string(ranks) + ": use 1 to 1024"};
  }
  if (!shares(config.heads, ranks)) {
    return not_shared(config, ranks, "num_attention_heads", config.heads);
  }
  if (!kv_shares(config.kv_heads, ranks)) {
    return not_shared(config, ranks, "num_key_value_heads", config.kv_heads);
  }
  if (!shares(config.intermediate, ranks)) {
    return not_shared(config, ranks, "intermediate_size", config.intermediate);
  }
  if (!shares(config.expert_intermediate, ranks)) {
    return not_shared(config, ranks, "moe_intermediate_size", config.expert_intermediate);
  }
  if (!shares(config.vocabulary, ranks)) {
    return not_shared(config, ranks, "vocab_size", config.vocabulary);
  }
  Shard shard;
  shard.ranks = ranks;
  shard.heads = config.heads / ranks;
  shard.kv_replicated = config.kv_heads < ranks;
  shard.kv_heads = shard.kv_replicated ? 1 : config.kv_heads / ranks;
  shard.intermediate = config.intermediate / ranks;
  shard.expert_intermediate = config.expert_intermediate / ranks;
  shard.vocabulary = config.vocabulary / ranks;
  return shard;
}

}  // namespace fusefarm::graph
