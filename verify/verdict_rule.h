// From stored evidence to a verdict. Versioned and pure: the coordinator recomputes every verdict
// from what the store holds and must agree with the worker.
#pragma once

#include <cstdint>

#include "graph/cost.h"
#include "records/campaign.h"
#include "records/outcome.h"
#include "verify/gate.h"

namespace fusefarm::verify {

constexpr int kVerdictRuleVersion = 1;

// Measured roofs of a device. Zero: unknown, the bound is left out.
struct Roofs {
  double memory_bytes_per_second = 0;
  double cache_bytes_per_second = 0;  // last-level cache; for what can stay in it
  std::int64_t cache_bytes = 0;
  double flops_per_second = 0;
};

// Seconds below which no implementation can be: compulsory bytes and FLOPs over the roofs. Weights
// beyond the cache's size count at memory bandwidth, everything else at the cache's.
double physical_floor_seconds(const graph::Cost& cost, const Roofs& roofs);

struct VerdictPolicy {
  GatePolicy screen, confirm;
  double floor_seconds = 0;   // 0: unknown
  double floor_margin = 0.8;  // below margin * floor: kSuspect
};

VerdictPolicy verdict_policy(const GateSpec& spec, double floor_seconds);

// kImproved needs all correctness records ok and a passed confirmation. A passed screen without
// confirmation gives kInconclusive{"unconfirmed"}. A verdict that no sample explains (build, fault,
// hang, infrastructure, duplicate, cancelled, static, tamper, ...) is kept as stored.
Verdict judge_outcome(const Outcome& outcome, const VerdictPolicy& policy);

// Median seconds per launch of an arm over all slots that count; 0 without samples.
double median_launch_seconds(const PairedMeasurement& measurement, Arm arm);

}  // namespace fusefarm::verify
