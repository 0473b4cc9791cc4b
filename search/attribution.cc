#include "search/attribution.h"

#include <cmath>

namespace fusefarm::search {
namespace {

constexpr int kAttemptsForIneffective = 3;
// The verdict rule's reason for a passed screen that nothing confirmed yet.
constexpr const char* kUnconfirmed = "unconfirmed";

bool measured(const Outcome& outcome) {
  return outcome.screen.has_value() || outcome.confirmation.has_value();
}

}  // namespace

const char* to_string(Label label) {
  switch (label) {
    case Label::kNone:
      return "";
    case Label::kConfirmed:
      return "CONFIRMED";
    case Label::kIneffective:
      return "INEFFECTIVE";
    case Label::kImplInefficient:
      return "IMPL_INEFFICIENT";
    case Label::kImplInvalid:
      return "IMPL_INVALID";
    case Label::kNoHeadroom:
      return "NO_HEADROOM";
    case Label::kInconclusive:
      return "INCONCLUSIVE";
  }
  return "";
}

double observed_gain(const Outcome& outcome) {
  if (outcome.confirmation) {
    return outcome.confirmation->estimate;
  }
  return outcome.screen ? outcome.screen->estimate : 0;
}

double lower_bound(const Interval& interval) {
  return std::isfinite(interval.lo) ? interval.lo : 0.5 * interval.estimate;
}

bool screened_faster(const Outcome& outcome, double min_gain) {
  const VerdictClass klass = outcome.verdict.klass;
  const bool open = klass == VerdictClass::kImproved || klass == VerdictClass::kInconclusive;
  if (!open || !outcome.screen || outcome.screen->estimate < min_gain) {
    return false;
  }
  return outcome.verdict.reason == kUnconfirmed || outcome.screen->lo > 0;
}

Label attribute(const Outcome& outcome, const AttributionInputs& inputs) {
  if (is_infrastructure(outcome.verdict.klass)) {
    return Label::kNone;
  }
  if (!measured(outcome)) {
    return Label::kImplInvalid;
  }
  if (outcome.verdict.klass == VerdictClass::kSuspect) {
    return Label::kInconclusive;
  }
  if (outcome.verdict.klass == VerdictClass::kInconclusive &&
      !screened_faster(outcome, inputs.min_gain)) {
    return Label::kInconclusive;
  }
  const Interval& interval = outcome.confirmation ? *outcome.confirmation : *outcome.screen;
  if (interval.lo > 0 && interval.estimate >= inputs.min_gain) {
    return Label::kConfirmed;
  }
  if (!outcome.confirmation && screened_faster(outcome, inputs.min_gain)) {
    return Label::kConfirmed;
  }
  if (-std::log1p(-std::min(0.999, inputs.headroom)) < inputs.min_gain) {
    return Label::kNoHeadroom;
  }
  if (interval.lo < inputs.min_gain && interval.hi > inputs.min_gain) {
    return Label::kInconclusive;
  }
  if (interval.hi < -inputs.min_gain) {
    return Label::kImplInefficient;
  }
  const bool repeated = inputs.family_attempts >= kAttemptsForIneffective && !inputs.family_gained;
  return repeated ? Label::kIneffective : Label::kImplInefficient;
}

void learn(Posteriors& posteriors, Label label, const std::string& hypothesis_key,
           const std::string& implementer_key) {
  switch (label) {
    case Label::kConfirmed:
      posteriors.credit(hypothesis_key, 1, 0);
      posteriors.credit(implementer_key, 1, 0);
      return;
    case Label::kIneffective:
      posteriors.credit(hypothesis_key, 0, 1);
      return;
    case Label::kImplInefficient:
      posteriors.credit(hypothesis_key, 0, 0.15);
      posteriors.credit(implementer_key, 0, 1);
      return;
    case Label::kImplInvalid:
      posteriors.credit(implementer_key, 0, 1);
      return;
    case Label::kNoHeadroom:
      posteriors.credit(hypothesis_key, 0, 0.5);
      return;
    case Label::kNone:
    case Label::kInconclusive:
      return;
  }
}

}  // namespace fusefarm::search
