// A candidate implementation of a region: device code plus launch plan. Untrusted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "records/launch_plan.h"

namespace fusefarm {

enum class SourceKind : std::uint8_t { kCpp };  // reserved by name: cuda, ptx, cubin

struct Candidate {
  SourceKind kind = SourceKind::kCpp;
  Digest region;       // signature of the region it implements
  std::string source;  // self-contained; no includes, no host code
  // From the allow-list -O2 -O3 -ffast-math-free vector flags (verify/static_check.h).
  std::vector<std::string> flags;
  LaunchPlan plan;
  std::string origin;                            // proposer: builtin, llm, replay, human, noop
  std::string family;                            // schedule family, e.g. skinny_gemm, rowwise
  std::map<std::string, std::int64_t> schedule;  // the point of the schedule space, for the search
  bool deterministic = true;

  // Content address: kind, region, source, flags and plan. Origin, family and schedule are not
  // part.
  Digest digest() const;
};

}  // namespace fusefarm
