// A campaign's report for a terminal, from report.json.
#pragma once

#include <string>

#include "base/result.h"

namespace fusefarm::cli {

// kIntegrity when the text is no report.
Result<std::string> report_text(const std::string& report_json);

}  // namespace fusefarm::cli
