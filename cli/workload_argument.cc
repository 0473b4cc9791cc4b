#include "cli/workload_argument.h"

#include <vector>

#include "base/text.h"

namespace fusefarm::cli {
namespace {

constexpr std::int64_t kTokensMax = 1 << 20;
constexpr std::int64_t kContextMax = 1 << 24;
constexpr std::int64_t kBlockDefault = 32;

Error bad(const std::string& text, const std::string& why) {
  return Error{ErrorCode::kInvalidArgument,
               "--workload '" + text.substr(0, 80) + "': " + why +
                   "; expected decode:BATCH:CONTEXT, prefill:TOKENS[:CONTEXT] or "
                   "block:BATCH:CONTEXT[:BLOCK]"};
}

}  // namespace

Result<Workload> parse_workload_argument(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Result<std::int64_t> number = parse_int(parts[i]);
    if (!number.ok()) {
      return bad(text, number.error().message);
    }
    if (*number < 1 || *number > kContextMax) {
      return bad(text, parts[i] + " is out of range");
    }
    numbers.push_back(*number);
  }
  Workload workload;
  workload.name = text;
  if (parts[0] == "decode" && numbers.size() == 2) {
    workload.phase = graph::Phase::kDecode;
    workload.batch = numbers[0];
    workload.context = numbers[1];
    workload.tokens = workload.batch;
  } else if (parts[0] == "prefill" && (numbers.size() == 1 || numbers.size() == 2)) {
    workload.phase = graph::Phase::kPrefill;
    workload.tokens = numbers[0];
    workload.context = numbers.back();
  } else if (parts[0] == "block" && (numbers.size() == 2 || numbers.size() == 3)) {
    workload.phase = graph::Phase::kBlockDiffusion;
    workload.batch = numbers[0];
    workload.context = numbers[1];
    workload.tokens = workload.batch * (numbers.size() == 3 ? numbers[2] : kBlockDefault);
  } else {
    return bad(text, "not understood");
  }
  if (workload.tokens > kTokensMax) {
    return bad(text, "more than a million tokens in one step");
  }
  if (workload.context * workload.batch < workload.tokens) {
    return bad(text, "the context holds fewer slots than the step has tokens");
  }
  return workload;
}

}  // namespace fusefarm::cli
