#include "childlink/compile_messages.h"

#include <algorithm>
#include <array>

#include "childlink/json_reader.h"

namespace fusefarm::childlink {
namespace {

constexpr std::array kStatuses{"built", "error", "timeout", "resource", "host"};
constexpr std::size_t kDiagnosticsMax = 64U << 10;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string encode(const CompileRequest& request) {
  return dump({{"compiler", request.compiler},
               {"source", request.source},
               {"flags", request.flags},
               {"seconds_max", request.seconds_max},
               {"memory_bytes_max", request.memory_bytes_max},
               {"output_bytes_max", request.output_bytes_max}});
}

Result<CompileRequest> compile_request_from(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "compile"));
  CompileRequest request;
  request.compiler = TRY(reader.text("compiler", 4096));
  request.source = TRY(reader.text("source", 4U << 20));
  for (const Json& flag : *TRY(reader.array("flags", 256))) {
    if (!flag.is_string()) {
      return reader.wrong("flags", "holds something else than strings");
    }
    request.flags.push_back(flag.get<std::string>());
  }
  request.seconds_max = TRY(reader.real("seconds_max"));
  if (request.seconds_max <= 0 || request.seconds_max > 3600) {
    return reader.wrong("seconds_max", "is outside 0..3600");
  }
  request.memory_bytes_max = TRY(reader.integer("memory_bytes_max", 1 << 20, INT64_MAX));
  request.output_bytes_max = TRY(reader.integer("output_bytes_max", 1 << 10, INT64_MAX));
  TRY(reader.finish());
  return request;
}

std::string encode(const CompileReply& reply) {
  return dump({{"status", kStatuses.at(static_cast<std::size_t>(reply.status))},
               {"diagnostics", reply.diagnostics.substr(0, kDiagnosticsMax)},
               {"seconds", reply.seconds}});
}

Result<CompileReply> compile_reply_from(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "compile reply"));
  CompileReply reply;
  const std::string status = TRY(reader.text("status", 16));
  const auto* const found = std::ranges::find(kStatuses, status);
  if (found == kStatuses.end()) {
    return reader.wrong("status", "is '" + status + "'");
  }
  reply.status = static_cast<CompileStatus>(found - kStatuses.begin());
  // Replaced bytes grow in the text: room for three times the length.
  reply.diagnostics = TRY(reader.text("diagnostics", 3 * kDiagnosticsMax));
  reply.seconds = TRY(reader.real("seconds"));
  TRY(reader.finish());
  return reply;
}

}  // namespace fusefarm::childlink
