// The gate: a sequential test on paired log-ratios, a pure function of the raw samples.
#pragma once

#include <string>

#include "records/campaign.h"
#include "records/measurement.h"

namespace fusefarm::verify {

struct GatePolicy {
  // H0: the median log speed-up is at most this. Superiority: the minimum gain; non-inferiority:
  // minus the margin.
  double threshold = 0.01;
  double alpha = 0.05;           // probability ever to pass under H0
  int quads_min = 6;             // before any decision
  int quads_max = 48;            // cap: then inconclusive
  int hopeless_after = 4;        // quads, none above the threshold and their median far below
  int futility_after = 10;       // quads
  double futility_share = 0.45;  // stop when fewer exceed the threshold
  int blocks_min = 1;            // fresh pairs of executors before a pass
  double coverage = 0.95;        // of the reported interval
};

enum class GateStep { kContinue, kPass, kNoGain, kInconclusive };

struct GateDecision {
  GateStep step = GateStep::kContinue;
  int quads = 0, wins = 0;  // used, and above the threshold
  int discarded = 0;
  bool host_busy = false;  // too many discarded: the environment's failure, not the candidate's
  double e_value = 1;      // of the superiority test
  Interval interval;  // log speed-up: Hodges-Lehmann estimate, confidence interval of the median
  std::string why;    // for people
};

// To pass: e >= 1/alpha, enough quads and blocks, and the median of block medians above the
// threshold. More than three quarters discarded (and at least 24): kInconclusive, host_busy.
GateDecision decide(const PairedMeasurement& measurement, const GatePolicy& policy);

const char* to_string(GateStep step);

// The stages' policies from what the operator declared.
GatePolicy screen_policy(const GateSpec& spec);
GatePolicy confirm_policy(const GateSpec& spec);
GatePolicy non_inferiority_policy(double margin);
GatePolicy superiority_policy();  // end to end: threshold 0, its interval is the headline

}  // namespace fusefarm::verify
