#include "childlink/judge_messages.h"

#include <cmath>
#include <limits>
#include <utility>

#include "childlink/json_reader.h"

namespace fusefarm::childlink {
namespace {

constexpr std::int64_t kIntMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kIntMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kTensorIdMax = std::numeric_limits<graph::TensorId>::max();
constexpr std::int64_t kDimMax = std::int64_t{1} << 40;
constexpr std::int64_t kSetsMax = 1 << 20;
constexpr std::size_t kEntriesMax = 4096;
constexpr std::size_t kTensorsMax = 1U << 20;
constexpr std::size_t kTextMax = 1U << 20;
// Stands for infinity and not-a-number, which JSON lacks: beyond every limit.
constexpr double kBeyond = 1e300;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

double finite(double value) { return std::isfinite(value) ? value : kBeyond; }

Json json_of(const graph::Bindings& bindings) {
  return {{"tokens", bindings.tokens},
          {"sequences", bindings.sequences},
          {"slots", bindings.slots},
          {"logit_rows", bindings.logit_rows}};
}

Json json_of(const CorrectnessRecord& record) {
  Json outputs = Json::array();
  for (const BoundaryError& error : record.outputs) {
    outputs.push_back({{"tensor", error.tensor},
                       {"worst_over_bound", finite(error.worst_over_bound)},
                       {"relative_norm", finite(error.relative_norm)},
                       {"relative_norm_limit", finite(error.relative_norm_limit)},
                       {"worst_index", error.worst_index},
                       {"failures", error.failures}});
  }
  return {{"ok", record.ok},
          {"distribution", record.distribution},
          {"seed", static_cast<std::int64_t>(record.seed)},
          {"outputs", std::move(outputs)},
          {"failure", record.failure},
          {"detail", record.detail}};
}

Json json_of(const OpenModel& request) {
  return {{"request", "open_model"},
          {"graph", request.graph_json},
          {"bindings", json_of(request.bindings)},
          {"seed", static_cast<std::int64_t>(request.seed)},
          {"threads", request.threads}};
}

Json json_of(const OpenPool& request) {
  Json entries = Json::array();
  for (const PoolEntry& entry : request.entries) {
    entries.push_back({{"distribution", entry.distribution},
                       {"seed", static_cast<std::int64_t>(entry.seed)},
                       {"full_context", entry.full_context},
                       {"poison", entry.poison}});
  }
  return {{"request", "open_pool"},
          {"graph", request.graph_json},
          {"bindings", json_of(request.bindings)},
          {"tensor_of", request.tensor_of},
          {"exposed", request.exposed},
          {"entries", std::move(entries)},
          {"boundary_sets", request.boundary_sets},
          {"whole_model", request.whole_model}};
}

Json json_of(const Prepare& request) {
  return {{"request", "prepare"}, {"pool", request.pool}, {"entries", request.entries}};
}

Json json_of(const Compare& request) {
  return {{"request", "compare"},
          {"pool", request.pool},
          {"set", request.set},
          {"entry", request.entry}};
}

Json json_of(const CompareModel& request) {
  return {{"request", "compare_model"},
          {"pool", request.pool},
          {"before", request.before},
          {"after", request.after},
          {"entry", request.entry}};
}

Json json_of(const ClosePool& request) {
  return {{"request", "close_pool"}, {"pool", request.pool}};
}

Json json_of(const Done& /*reply*/) { return {{"reply", "done"}}; }

Json json_of(const PoolOpened& reply) { return {{"reply", "pool_opened"}, {"pool", reply.pool}}; }

Json json_of(const Compared& reply) {
  return {{"reply", "compared"},
          {"record", json_of(reply.record)},
          {"inputs_unchanged", reply.inputs_unchanged}};
}

Json json_of(const ModelCompared& reply) {
  return {{"reply", "model_compared"},
          {"values_ok", reply.values_ok},
          {"tokens_ok", reply.tokens_ok},
          {"error_before", finite(reply.error_before)},
          {"error_after", finite(reply.error_after)},
          {"tokens_compared", reply.tokens_compared},
          {"token_flips", reply.token_flips},
          {"flips_unexcused", reply.flips_unexcused},
          {"detail", reply.detail}};
}

Json json_of(const Failed& reply) {
  return {{"reply", "failed"},
          {"code", static_cast<int>(reply.error.code)},
          {"message", reply.error.message}};
}

Result<graph::Bindings> read_bindings(ObjectReader& outer) {
  auto reader = TRY(ObjectReader::open(*TRY(outer.object("bindings")), "bindings"));
  graph::Bindings bindings;
  bindings.tokens = TRY(reader.integer("tokens", 1, kDimMax));
  bindings.sequences = TRY(reader.integer("sequences", 1, kDimMax));
  bindings.slots = TRY(reader.integer("slots", 1, kDimMax));
  bindings.logit_rows = TRY(reader.integer("logit_rows", 1, kDimMax));
  TRY(reader.finish());
  return bindings;
}

// Numbers of an array, each within [least, most].
template <class Number>
Result<std::vector<Number>> read_numbers(ObjectReader& reader, const char* key,
                                         std::size_t count_max, std::int64_t least,
                                         std::int64_t most) {
  std::vector<Number> numbers;
  for (const Json& element : *TRY(reader.array(key, count_max))) {
    const bool fits = element.is_number_integer() &&
                      (!element.is_number_unsigned() ||
                       element.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) &&
                      element.get<std::int64_t>() >= least && element.get<std::int64_t>() <= most;
    if (!fits) {
      return reader.wrong(key, "holds something else than numbers in range");
    }
    numbers.push_back(static_cast<Number>(element.get<std::int64_t>()));
  }
  return numbers;
}

Result<std::uint64_t> read_seed(ObjectReader& reader) {
  return static_cast<std::uint64_t>(TRY(reader.integer("seed", kIntMin, kIntMax)));
}

Result<OpenModel> read_open_model(ObjectReader& reader) {
  OpenModel request;
  request.graph_json = TRY(reader.text("graph", 64U << 20));
  request.bindings = TRY(read_bindings(reader));
  request.seed = TRY(read_seed(reader));
  request.threads = static_cast<int>(TRY(reader.integer("threads", 1, 1024)));
  return request;
}

Result<PoolEntry> read_entry(const Json& json) {
  auto reader = TRY(ObjectReader::open(json, "entry"));
  PoolEntry entry;
  entry.distribution = TRY(reader.text("distribution", 64));
  entry.seed = TRY(read_seed(reader));
  entry.full_context = TRY(reader.boolean("full_context"));
  entry.poison = static_cast<int>(TRY(reader.integer("poison", 0, 1 << 20)));
  TRY(reader.finish());
  return entry;
}

Result<OpenPool> read_open_pool(ObjectReader& reader) {
  OpenPool request;
  request.graph_json = TRY(reader.text("graph", 64U << 20));
  request.bindings = TRY(read_bindings(reader));
  request.tensor_of =
      TRY(read_numbers<graph::TensorId>(reader, "tensor_of", kTensorsMax, -1, kTensorIdMax));
  request.exposed =
      TRY(read_numbers<graph::TensorId>(reader, "exposed", kTensorsMax, 0, kTensorIdMax));
  for (const Json& entry : *TRY(reader.array("entries", kEntriesMax))) {
    request.entries.push_back(TRY(read_entry(entry)));
  }
  request.boundary_sets = TRY(reader.integer("boundary_sets", 1, kSetsMax));
  request.whole_model = TRY(reader.boolean("whole_model"));
  return request;
}

Result<Prepare> read_prepare(ObjectReader& reader) {
  Prepare request;
  request.pool = TRY(reader.integer("pool", 0, kIntMax));
  request.entries = TRY(read_numbers<int>(reader, "entries", kEntriesMax, 0, kEntriesMax));
  return request;
}

Result<Compare> read_compare(ObjectReader& reader) {
  Compare request;
  request.pool = TRY(reader.integer("pool", 0, kIntMax));
  request.set = TRY(reader.integer("set", 0, kSetsMax));
  request.entry = static_cast<int>(TRY(reader.integer("entry", 0, kEntriesMax)));
  return request;
}

Result<CompareModel> read_compare_model(ObjectReader& reader) {
  CompareModel request;
  request.pool = TRY(reader.integer("pool", 0, kIntMax));
  request.before = TRY(reader.integer("before", 0, kSetsMax));
  request.after = TRY(reader.integer("after", 0, kSetsMax));
  request.entry = static_cast<int>(TRY(reader.integer("entry", 0, kEntriesMax)));
  return request;
}

Result<BoundaryError> read_boundary_error(const Json& json) {
  auto reader = TRY(ObjectReader::open(json, "output"));
  BoundaryError error;
  error.tensor = TRY(reader.text("tensor", 256));
  error.worst_over_bound = TRY(reader.real("worst_over_bound"));
  error.relative_norm = TRY(reader.real("relative_norm"));
  error.relative_norm_limit = TRY(reader.real("relative_norm_limit"));
  error.worst_index = TRY(reader.integer("worst_index", 0, kIntMax));
  error.failures = TRY(reader.integer("failures", 0, kIntMax));
  TRY(reader.finish());
  return error;
}

Result<CorrectnessRecord> read_record(const Json& json) {
  auto reader = TRY(ObjectReader::open(json, "record"));
  CorrectnessRecord record;
  record.ok = TRY(reader.boolean("ok"));
  record.distribution = TRY(reader.text("distribution", 64));
  record.seed = TRY(read_seed(reader));
  for (const Json& output : *TRY(reader.array("outputs", kTensorsMax))) {
    record.outputs.push_back(TRY(read_boundary_error(output)));
  }
  record.failure = TRY(reader.text("failure", 64));
  record.detail = TRY(reader.text("detail", kTextMax));
  TRY(reader.finish());
  return record;
}

Result<Compared> read_compared(ObjectReader& reader) {
  Compared reply;
  reply.record = TRY(read_record(*TRY(reader.object("record"))));
  reply.inputs_unchanged = TRY(reader.boolean("inputs_unchanged"));
  return reply;
}

Result<ModelCompared> read_model_compared(ObjectReader& reader) {
  ModelCompared reply;
  reply.values_ok = TRY(reader.boolean("values_ok"));
  reply.tokens_ok = TRY(reader.boolean("tokens_ok"));
  reply.error_before = TRY(reader.real("error_before"));
  reply.error_after = TRY(reader.real("error_after"));
  reply.tokens_compared = TRY(reader.integer("tokens_compared", 0, kIntMax));
  reply.token_flips = TRY(reader.integer("token_flips", 0, kIntMax));
  reply.flips_unexcused = TRY(reader.integer("flips_unexcused", 0, kIntMax));
  reply.detail = TRY(reader.text("detail", kTextMax));
  return reply;
}

Result<Failed> read_failed(ObjectReader& reader) {
  Failed reply;
  reply.error.code = static_cast<ErrorCode>(
      TRY(reader.integer("code", 0, static_cast<std::int64_t>(ErrorCode::kInternal))));
  reply.error.message = TRY(reader.text("message", kTextMax));
  return reply;
}

Result<JudgeRequest> read_request(ObjectReader& reader) {
  const std::string kind = TRY(reader.text("request", 32));
  if (kind == "open_model") {
    return JudgeRequest(TRY(read_open_model(reader)));
  }
  if (kind == "open_pool") {
    return JudgeRequest(TRY(read_open_pool(reader)));
  }
  if (kind == "prepare") {
    return JudgeRequest(TRY(read_prepare(reader)));
  }
  if (kind == "compare") {
    return JudgeRequest(TRY(read_compare(reader)));
  }
  if (kind == "compare_model") {
    return JudgeRequest(TRY(read_compare_model(reader)));
  }
  if (kind == "close_pool") {
    return JudgeRequest(ClosePool{TRY(reader.integer("pool", 0, kIntMax))});
  }
  return reader.wrong("request", "is '" + kind + "'");
}

Result<JudgeReply> read_reply(ObjectReader& reader) {
  const std::string kind = TRY(reader.text("reply", 32));
  if (kind == "done") {
    return JudgeReply(Done{});
  }
  if (kind == "pool_opened") {
    return JudgeReply(PoolOpened{TRY(reader.integer("pool", 0, kIntMax))});
  }
  if (kind == "compared") {
    return JudgeReply(TRY(read_compared(reader)));
  }
  if (kind == "model_compared") {
    return JudgeReply(TRY(read_model_compared(reader)));
  }
  if (kind == "failed") {
    return JudgeReply(TRY(read_failed(reader)));
  }
  return reader.wrong("reply", "is '" + kind + "'");
}

}  // namespace

std::string encode(const JudgeRequest& request) {
  return dump(std::visit([](const auto& r) { return json_of(r); }, request));
}

std::string encode(const JudgeReply& reply) {
  return dump(std::visit([](const auto& r) { return json_of(r); }, reply));
}

Result<JudgeRequest> judge_request_from(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "judge request"));
  JudgeRequest request = TRY(read_request(reader));
  TRY(reader.finish());
  return request;
}

Result<JudgeReply> judge_reply_from(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "judge reply"));
  JudgeReply reply = TRY(read_reply(reader));
  TRY(reader.finish());
  return reply;
}

}  // namespace fusefarm::childlink
