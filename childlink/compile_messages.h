// What a worker asks of a compiler child (fusefarm-compile), and what it answers. One request a
// process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusefarm::childlink {

struct CompileRequest {
  std::string compiler;            // path inside the sandbox
  std::string source;              // C++, self-contained
  std::vector<std::string> flags;  // of the candidate, already checked against the allow-list
  double seconds_max = 20;
  std::int64_t memory_bytes_max = std::int64_t{2} << 30;
  std::int64_t output_bytes_max = std::int64_t{8} << 20;
};

enum class CompileStatus : std::uint8_t {
  kBuilt,  // the artifact travels as a descriptor beside the reply
  kError,  // the compiler refused the source
  kTimeout,
  kResource,  // memory or output beyond the limit
  kHost,      // there is no usable compiler
};

struct CompileReply {
  CompileStatus status = CompileStatus::kHost;
  std::string diagnostics;  // first part of what the compiler printed
  double seconds = 0;
};

std::string encode(const CompileRequest& request);
std::string encode(const CompileReply& reply);
Result<CompileRequest> compile_request_from(std::string_view text);
Result<CompileReply> compile_reply_from(std::string_view text);

}  // namespace fusefarm::childlink
