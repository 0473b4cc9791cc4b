// Results of whole-model jobs as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/job.h"

namespace fusefarm {

constexpr int kProfileResultVersion = 1;
constexpr int kIntegrationResultVersion = 1;

std::string to_json(const ProfileResult& result);
Result<ProfileResult> profile_result_from_json(std::string_view text);

std::string to_json(const IntegrationResult& result);
Result<IntegrationResult> integration_result_from_json(std::string_view text);

}  // namespace fusefarm
