// What happened to a candidate, terminal. Separate from why (causal label) and from provenance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fusefarm {

enum class VerdictClass : std::uint8_t {
  kImproved,
  kNoGain,
  kInconclusive,
  kDuplicate,
  kRejectStatic,
  kRejectBuild,  // error, timeout, resource, policy
  kRejectFault,  // launch, memory, trap, signal
  kRejectHang,
  kRejectResource,
  kRejectWrong,  // numeric, nonfinite, unwritten, tail, rank
  kRejectNondet,
  kRejectStateful,
  kRejectMutation,
  kRejectOob,
  kRejectTamper,
  kSuspect,          // physically impossible or contradictory; held
  kInfra,            // environment, toolchain, device, cotenant, clock; never charged
  kIntegrationFail,  // capture, diverge, tokens, regress
  kCancelled,
};

struct Verdict {
  VerdictClass klass = VerdictClass::kInconclusive;
  std::string reason;  // the sub-reason in lower case, e.g. "numeric", "timeout"
  std::string detail;  // for people: element, bound, signal, compiler message
  int rule_version = 1;
};

// "IMPROVED", "REJECT_WRONG", ...
const char* to_string(VerdictClass klass);
std::optional<VerdictClass> verdict_class_from(std::string_view name);
bool is_infrastructure(VerdictClass klass);  // never charged to the candidate, teaches nothing

}  // namespace fusefarm
