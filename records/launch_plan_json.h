// Launch plans as JSON (docs/formats_candidate.md). Strict: unknown and missing fields are errors.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/launch_plan.h"

namespace fusefarm {

// Bounds of a plan that is read; a proposal beyond them is refused by name.
constexpr std::size_t kPlanBuffersMax = 64;
constexpr std::size_t kPlanStepsMax = 256;
constexpr std::size_t kStepArgsMax = 128;

std::string to_json(const LaunchPlan& plan);
Result<LaunchPlan> launch_plan_from_json(std::string_view text);

}  // namespace fusefarm
