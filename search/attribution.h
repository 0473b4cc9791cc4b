// Why an experiment ended as it did: an ineffective hypothesis, an inefficient implementation, or
// neither. For the search only; acceptance never reads a label.
#pragma once

#include <string>

#include "records/hypothesis.h"
#include "records/outcome.h"
#include "search/posterior.h"

namespace fusefarm::search {

enum class Label {
  kNone,  // infrastructure or cancelled: teaches nothing
  kConfirmed,
  kIneffective,
  kImplInefficient,
  kImplInvalid,
  kNoHeadroom,
  kInconclusive,
};

const char* to_string(Label label);  // "CONFIRMED", ...; kNone: ""

struct AttributionInputs {
  double min_gain = 0.01;  // margin of the response check, log
  double headroom = 1;     // 1 - floor / present time of the region under this workload
  int family_attempts =
      0;  // measured implementations of the same hypothesis here, this one included
  bool family_gained = false;  // one of them was faster than the incumbent
};

// Counters are not measured on CPU in this version, so the manipulation check is replaced by
// repetition: a hypothesis is called ineffective only after several implementations of it ran
// correctly without effect; a single slow one is held against the implementation.
Label attribute(const Outcome& outcome, const AttributionInputs& inputs);

// The estimate that a label goes by: the confirmation's when there is one.
double observed_gain(const Outcome& outcome);

// The lower end of an interval; half the estimate when too few samples give no finite end, which
// ranks it behind the well measured.
double lower_bound(const Interval& interval);

// Correct, and the screen passed its gate or its interval lies above no gain.
bool screened_faster(const Outcome& outcome, double min_gain);

// Credits hypothesis family and implementer as the label says.
void learn(Posteriors& posteriors, Label label, const std::string& hypothesis_key,
           const std::string& implementer_key);

}  // namespace fusefarm::search
