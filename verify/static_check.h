// What can be refused by reading a candidate: its text, flags and plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "records/candidate.h"
#include "records/verdict.h"

namespace fusefarm::verify {

struct StaticLimits {
  std::size_t source_bytes_max = 256U << 10;
  std::size_t steps_max = 64;
  std::size_t buffers_max = 64;
  std::int64_t scratch_bytes_max = std::int64_t{512} << 20;
  std::int64_t prepared_bytes_max = std::int64_t{2} << 30;
  std::int64_t blocks_max = std::int64_t{1} << 22;
};

// Compiler flags a candidate may ask for. Nothing that reads files, changes the entry ABI or trades
// accuracy for speed.
const std::vector<std::string>& allowed_flags();

// Entries of the plan's kernel steps, each once, in order of first use: what the artifact must
// export.
std::vector<std::string> required_entries(const Candidate& candidate);

// kRejectStatic with the reason ("source", "flags", "plan"), or nothing when it may be built.
// `region` is the canonical region it claims to implement.
std::optional<Verdict> static_check(const Candidate& candidate, const graph::Graph& region,
                                    const graph::Bindings& bindings,
                                    const StaticLimits& limits = {});

}  // namespace fusefarm::verify
