// The durable result of one experiment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "records/measurement.h"
#include "records/verdict.h"

namespace fusefarm {

// Per boundary output: how near to its bound the worst element came (1: at the bound).
struct BoundaryError {
  std::string tensor;
  double worst_over_bound = 0;
  double relative_norm = 0;  // ||y - R||_F / ||R||_F
  double relative_norm_limit = 0;
  std::int64_t worst_index = 0;  // flat element index
  std::int64_t failures = 0;     // elements beyond the bound
};

struct CorrectnessRecord {
  bool ok = false;
  std::string distribution;
  std::uint64_t seed = 0;
  std::vector<BoundaryError> outputs;
  std::string failure;  // reason of verdict.h when !ok
  std::string detail;
};

struct Outcome {
  ExperimentId experiment;
  Digest region;  // signature
  std::string workload;
  Digest candidate;  // content digest
  Digest incumbent;  // content digest of what it was compared with ("" digest: unfused baseline)
  std::string family;
  Verdict verdict;
  std::string causal_label;  // CONFIRMED, NO_HEADROOM, ...; for the search only
  std::vector<CorrectnessRecord> correctness;
  std::vector<PairedMeasurement> measurements;
  std::optional<Interval> screen;        // log speed-up
  std::optional<Interval> confirmation;  // log speed-up; the only estimate that is quoted
  double compile_seconds = 0, device_seconds = 0, prepare_seconds = 0;
  std::int64_t prepared_bytes = 0;
  std::string device_class;  // e.g. cpu:<model>:<cores>
  std::string toolchain;     // compiler and version
  std::string isolation;     // full | container | none
};

}  // namespace fusefarm
