// Rows of a history database as JSON (docs/store.md) and as tables.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "store/history.h"

namespace fusefarm::cli {

Result<nlohmann::json> campaigns_report(const store::History& history);
Result<nlohmann::json> experiments_report(const store::History& history,
                                          const store::ExperimentFilter& filter);
// Of every campaign that the filter leaves.
Result<nlohmann::json> rewrites_report(const store::History& history,
                                       const store::ExperimentFilter& filter);
Result<nlohmann::json> campaign_report(const store::History& history, CampaignId id);
Result<nlohmann::json> experiment_report(const store::History& history, ExperimentId id);
Result<nlohmann::json> candidate_report(const store::History& history, const Digest& digest);

// A list of rows as a table. `wide` adds columns.
std::string campaigns_table(const nlohmann::json& rows, bool wide);
std::string experiments_table(const nlohmann::json& rows, bool wide);
std::string rewrites_table(const nlohmann::json& rows, bool wide);
// One object as "name  value" lines; nested values stay JSON.
std::string fields_table(const nlohmann::json& object);

}  // namespace fusefarm::cli
