// Candidates as JSON (docs/formats_candidate.md). Strict: unknown and missing fields are errors.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/candidate.h"

namespace fusefarm {

constexpr int kCandidateVersion = 1;
constexpr std::size_t kSourceBytesMax = std::size_t{1} << 20;
constexpr std::size_t kFlagsMax = 64;

std::string to_json(const Candidate& candidate);
Result<Candidate> candidate_from_json(std::string_view text);

}  // namespace fusefarm
