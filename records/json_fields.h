// Fields of values that are part of several documents. Internal to records, as json_codec.h is.
#pragma once

#include "records/campaign.h"
#include "records/candidate.h"
#include "records/job.h"
#include "records/json_codec.h"
#include "records/launch_plan.h"
#include "records/measurement.h"
#include "records/outcome.h"
#include "records/verdict.h"
#include "records/workload.h"

namespace fusefarm::internal {

Json to_value(const LaunchPlan& plan);
LaunchPlan decode_launch_plan(JsonObject& object);  // "version" included

Json to_value(const Interval& interval);
Interval decode_interval(JsonObject& object);
Json to_value(const PairedMeasurement& measurement);
PairedMeasurement decode_measurement(JsonObject& object);

Json to_value(const Verdict& verdict);
Verdict decode_verdict(JsonObject& object);

Json to_value(const Workload& workload);
Workload decode_workload(JsonObject& object);

}  // namespace fusefarm::internal
