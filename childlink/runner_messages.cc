#include "childlink/runner_messages.h"

#include <algorithm>
#include <array>

#include "childlink/json_reader.h"
#include "childlink/program_codec.h"

namespace fusefarm::childlink {
namespace {

constexpr int kThreadsMax = 1024;
constexpr std::size_t kTextMax = 1U << 20;
constexpr std::array kFaults{"program", "artifact", "resource", "host"};

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Loaded> read_loaded(ObjectReader& reader) {
  Loaded loaded;
  loaded.prepare_seconds = TRY(reader.real("prepare_seconds"));
  loaded.prepared_bytes = TRY(reader.integer("prepared_bytes", 0, INT64_MAX));
  loaded.private_bytes = TRY(reader.integer("private_bytes", 0, INT64_MAX));
  loaded.blas_core = TRY(reader.text("blas_core", 64));
  loaded.filtered = TRY(reader.boolean("filtered"));
  return loaded;
}

Result<LoadFailed> read_failed(ObjectReader& reader) {
  LoadFailed failed;
  const std::string fault = TRY(reader.text("fault", 16));
  const auto* const found = std::ranges::find(kFaults, fault);
  if (found == kFaults.end()) {
    return reader.wrong("fault", "is '" + fault + "'");
  }
  failed.fault = static_cast<LoadFault>(found - kFaults.begin());
  failed.message = TRY(reader.text("message", kTextMax));
  return failed;
}

}  // namespace

std::string encode(const LoadRequest& request) {
  return dump({{"program", program_to_json(request.program)},
               {"threads", request.threads},
               {"cores", request.cores}});
}

Result<LoadRequest> load_request_from(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "load"));
  LoadRequest request;
  const std::string program = TRY(reader.text("program", 64U << 20));
  request.program = TRY(program_from_json(program));
  request.threads = static_cast<int>(TRY(reader.integer("threads", 1, kThreadsMax)));
  for (const Json& core : *TRY(reader.array("cores", kThreadsMax))) {
    if (!core.is_number_integer() || core.get<std::int64_t>() < 0 ||
        core.get<std::int64_t>() > 65535) {
      return reader.wrong("cores", "holds no core number");
    }
    request.cores.push_back(core.get<int>());
  }
  TRY(reader.finish());
  return request;
}

std::string encode(const LoadReply& reply) {
  if (const auto* loaded = std::get_if<Loaded>(&reply)) {
    return dump({{"reply", "loaded"},
                 {"prepare_seconds", loaded->prepare_seconds},
                 {"prepared_bytes", loaded->prepared_bytes},
                 {"private_bytes", loaded->private_bytes},
                 {"blas_core", loaded->blas_core},
                 {"filtered", loaded->filtered}});
  }
  const auto& failed = std::get<LoadFailed>(reply);
  return dump({{"reply", "failed"},
               {"fault", kFaults.at(static_cast<std::size_t>(failed.fault))},
               {"message", failed.message.substr(0, kTextMax)}});
}

Result<LoadReply> load_reply_from(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "load reply"));
  const std::string kind = TRY(reader.text("reply", 16));
  LoadReply reply;
  if (kind == "loaded") {
    reply = TRY(read_loaded(reader));
  } else if (kind == "failed") {
    reply = TRY(read_failed(reader));
  } else {
    return reader.wrong("reply", "is '" + kind + "'");
  }
  TRY(reader.finish());
  return reply;
}

}  // namespace fusefarm::childlink
