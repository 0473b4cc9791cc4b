// What a worker asks of its judge, and what it answers; one JSON text a message. The judge is
// trusted, but parsing stays strict: unknown keys, wrong types and numbers out of range are errors.
//
// Memory travels as descriptors beside the text, in the order given here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "records/outcome.h"

namespace fusefarm::childlink {

// Fills the weights region. Descriptors: weights memfd of graph::weight_layout(model).bytes.
struct OpenModel {
  std::string graph_json;  // version 0, uncontracted
  graph::Bindings bindings;
  std::uint64_t seed = 0;
  int threads = 1;
};

struct PoolEntry {
  std::string distribution;  // verify::to_string
  std::uint64_t seed = 0;
  bool full_context = true;
  int poison = 0;
};

// A pool of launch sets for one region (or, with whole_model, the model) x bindings; answers are
// numbered from 0. Descriptors: pool memfd of entries.size() launch sets, written by the judge;
// boundary memfd of boundary_sets launch sets, read only. Needs OpenModel before.
struct OpenPool {
  std::string graph_json;
  graph::Bindings bindings;
  std::vector<graph::TensorId> tensor_of;  // canonical tensor -> tensor of the model; empty: same
  std::vector<graph::TensorId> exposed;    // part of the layout (boundary_layout)
  std::vector<PoolEntry> entries;
  std::int64_t boundary_sets = 0;
  bool whole_model = false;
};

struct PoolOpened {
  std::int64_t pool = 0;
};

// Computes the oracles of these entries now, so that nothing runs beside a timed slot.
struct Prepare {
  std::int64_t pool = 0;
  std::vector<int> entries;
};

// Launch set `set` of the boundary against pool entry `entry`.
struct Compare {
  std::int64_t pool = 0;
  std::int64_t set = 0;
  int entry = 0;
};

struct Compared {
  CorrectnessRecord record;
  bool inputs_unchanged = true;
};

// Whole model: set `before` and set `after` hold one launch each from entry `entry`.
struct CompareModel {
  std::int64_t pool = 0;
  std::int64_t before = 0, after = 0;
  int entry = 0;
};

struct ModelCompared {
  bool values_ok = false, tokens_ok = false;
  double error_before = 0, error_after = 0;
  std::int64_t tokens_compared = 0, token_flips = 0, flips_unexcused = 0;
  std::string detail;
};

// Drops the pool's mappings and oracles.
struct ClosePool {
  std::int64_t pool = 0;
};

struct Done {};

struct Failed {
  Error error;
};

using JudgeRequest = std::variant<OpenModel, OpenPool, Prepare, Compare, CompareModel, ClosePool>;
using JudgeReply = std::variant<Done, PoolOpened, Compared, ModelCompared, Failed>;

std::string encode(const JudgeRequest& request);
std::string encode(const JudgeReply& reply);
Result<JudgeRequest> judge_request_from(std::string_view text);
Result<JudgeReply> judge_reply_from(std::string_view text);

}  // namespace fusefarm::childlink
