// report.json: what a campaign found and how it is known. docs/report.md lists the fields.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "coordinator/campaign_state.h"

namespace fusefarm::coordinator {

constexpr int kReportFormat = 1;

// What the state can't know.
struct ReportFacts {
  double wall_seconds = 0;
  std::int64_t peak_memory_bytes = 0;  // 0: unknown
  std::int64_t executed = 0, reused = 0;
};

// "improved": at least one rewrite is committed and the end-to-end interval lies above 1.
std::string result_of(const CampaignState& state);

std::string report_json(const CampaignState& state, const ReportFacts& facts);

// A finished campaign's report as another run prints it: nothing executed, everything reused.
Result<std::string> report_as_reused(const std::string& report);

}  // namespace fusefarm::coordinator
