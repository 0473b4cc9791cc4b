#include <array>
#include <utility>

#include "records/verdict.h"
#include "records/workload.h"

namespace fusefarm {
namespace {

constexpr std::array<std::pair<VerdictClass, const char*>, 19> kVerdictNames{{
    {VerdictClass::kImproved, "IMPROVED"},
    {VerdictClass::kNoGain, "NO_GAIN"},
    {VerdictClass::kInconclusive, "INCONCLUSIVE"},
    {VerdictClass::kDuplicate, "DUPLICATE"},
    {VerdictClass::kRejectStatic, "REJECT_STATIC"},
    {VerdictClass::kRejectBuild, "REJECT_BUILD"},
    {VerdictClass::kRejectFault, "REJECT_FAULT"},
    {VerdictClass::kRejectHang, "REJECT_HANG"},
    {VerdictClass::kRejectResource, "REJECT_RESOURCE"},
    {VerdictClass::kRejectWrong, "REJECT_WRONG"},
    {VerdictClass::kRejectNondet, "REJECT_NONDET"},
    {VerdictClass::kRejectStateful, "REJECT_STATEFUL"},
    {VerdictClass::kRejectMutation, "REJECT_MUTATION"},
    {VerdictClass::kRejectOob, "REJECT_OOB"},
    {VerdictClass::kRejectTamper, "REJECT_TAMPER"},
    {VerdictClass::kSuspect, "SUSPECT"},
    {VerdictClass::kInfra, "INFRA"},
    {VerdictClass::kIntegrationFail, "INTEGRATION_FAIL"},
    {VerdictClass::kCancelled, "CANCELLED"},
}};

}  // namespace

const char* to_string(VerdictClass klass) {
  for (const auto& [value, name] : kVerdictNames) {
    if (value == klass) {
      return name;
    }
  }
  return "UNKNOWN";
}

std::optional<VerdictClass> verdict_class_from(std::string_view name) {
  for (const auto& [value, text] : kVerdictNames) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

bool is_infrastructure(VerdictClass klass) {
  return klass == VerdictClass::kInfra || klass == VerdictClass::kCancelled;
}

const char* to_string(graph::Phase phase) {
  switch (phase) {
    case graph::Phase::kDecode:
      return "decode";
    case graph::Phase::kPrefill:
      return "prefill";
    case graph::Phase::kBlockDiffusion:
      return "block-diffusion";
  }
  return "unknown";
}

}  // namespace fusefarm
