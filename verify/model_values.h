// Values of a whole model before and after a rewrite, against one oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/compare.h"
#include "verify/oracle.h"

namespace fusefarm::verify {

struct TensorDeviation {
  std::string tensor;
  std::int32_t layer = -1;
  double error_before = 0, error_after = 0;  // ||y - R||_F / ||R||_F over what the step wrote
  bool ok = false;
};

struct ModelComparison {
  bool values_ok = false;  // every deviation ok, states outside the written rows bit-equal
  bool tokens_ok = false;  // no unexcused flip
  std::vector<TensorDeviation> deviations;
  double error_before = 0, error_after = 0;  // worst over layers
  std::int64_t tokens_compared = 0, token_flips = 0, flips_unexcused = 0;
  std::string detail;
};

struct ModelRule {
  double tolerance_factor = 4;  // absolute part: this times u of the dtype
  double growth = 1.5;          // error after <= growth * error before
  double gap_factor = 4;        // tokens must agree where the top-2 gap exceeds this * logit error
};

// `before` and `after` are images of one launch each from the same pristine image. The logit error
// is what the predecessor's layers show: its worst relative error times the logits' norm.
ModelComparison compare_model(const Comparison& before, const Comparison& after,
                              const ModelRule& rule = {});

}  // namespace fusefarm::verify
