// Paired measurements and intervals as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/measurement.h"

namespace fusefarm {

std::string to_json(const PairedMeasurement& measurement);
Result<PairedMeasurement> measurement_from_json(std::string_view text);

std::string to_json(const Interval& interval);
Result<Interval> interval_from_json(std::string_view text);

}  // namespace fusefarm
