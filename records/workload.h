// What the model is asked to do: a phase of serving with its shape bucket and share of time.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "graph/model_import.h"

namespace fusefarm {

struct Workload {
  std::string name;  // unique in a campaign
  graph::Phase phase = graph::Phase::kDecode;
  std::int64_t batch = 1;    // sequences
  std::int64_t context = 0;  // KV slots per sequence, the step's own tokens included
  std::int64_t tokens = 1;   // of the step: decode = batch; prefill: chunk; block: 32 * batch
  double weight = 1;         // share of serving time; a campaign's weights sum to 1

  graph::Bindings bindings() const {
    const std::int64_t logit_rows = phase == graph::Phase::kBlockDiffusion ? tokens : batch;
    return {tokens, batch, batch * context, logit_rows};
  }

  friend bool operator==(const Workload&, const Workload&) = default;
};

const char* to_string(graph::Phase phase);

}  // namespace fusefarm
