// Outcomes and verdicts as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/outcome.h"
#include "records/verdict.h"

namespace fusefarm {

constexpr int kOutcomeVersion = 1;

std::string to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(std::string_view text);

std::string to_json(const Outcome& outcome);
Result<Outcome> outcome_from_json(std::string_view text);

}  // namespace fusefarm
