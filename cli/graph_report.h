// The graph commands' results as JSON (docs/formats.md) and as tables.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/graph_source.h"

namespace fusefarm::cli {

nlohmann::json import_report(const GraphSource& source);
nlohmann::json regions_report(const GraphSource& source, int nodes_max);

std::string import_table(const nlohmann::json& report);
// `wide` adds every operand.
std::string nodes_table(const nlohmann::json& report, bool wide);
std::string regions_table(const nlohmann::json& report, bool wide);

}  // namespace fusefarm::cli
