// What a worker asks of an executor (fusefarm-runner), and what it answers; one JSON text a
// message. After a program is loaded everything goes through the control page: no message is sent
// or read while anything is timed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "records/program.h"

namespace fusefarm::childlink {

// Where every executor maps the shared regions, so that no arm has luckier addresses than the
// other. High enough to be free in any process, and outside the shadow memory of the sanitizers.
constexpr std::uint64_t kBoundaryAddress = 0x7c00'0000'0000;
constexpr std::uint64_t kWeightsAddress = 0x7c80'0000'0000;

// Descriptors: control page, boundary memfd (program.sets * program.set_bytes), weights memfd
// (program.weight_bytes; only when that is not 0), then one shared object per artifact.
struct LoadRequest {
  Program program;
  int threads = 1;
  std::vector<int> cores;  // thread t is pinned to cores[t mod size]; empty: not pinned
};

struct Loaded {
  double prepare_seconds =
      0;  // of layout changes, by the executor's own clock: a report, no sample
  std::int64_t prepared_bytes = 0;
  std::int64_t private_bytes = 0;
  std::string blas_core;  // OpenBLAS's name for the kernels it chose; "" when no step uses it
  bool filtered = false;  // the system-call filter for candidate code is on
};

// Whose fault a failed load is.
enum class LoadFault : std::uint8_t {
  kProgram,   // the request contradicts itself: our bug
  kArtifact,  // the shared object does not load or lacks an entry: the candidate's
  kResource,  // memory
  kHost,      // library or kernel facility missing
};

struct LoadFailed {
  LoadFault fault = LoadFault::kProgram;
  std::string message;
};

using LoadReply = std::variant<Loaded, LoadFailed>;

std::string encode(const LoadRequest& request);
std::string encode(const LoadReply& reply);
Result<LoadRequest> load_request_from(std::string_view text);
Result<LoadReply> load_reply_from(std::string_view text);

}  // namespace fusefarm::childlink
