// Raw samples as the store packs them: one measurement, one blob (docs/store.md). Internal to
// store.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/measurement.h"

namespace fusefarm::store {

std::string pack_samples(const PairedMeasurement& measurement);
// The stage is not in the blob: it has its own column. Errors are kIntegrity.
Result<PairedMeasurement> unpack_samples(std::string_view blob, const std::string& stage);

}  // namespace fusefarm::store
