#include "worker/correctness.h"

#include <cstddef>
#include <utility>

#include "verify/verdict_rule.h"

namespace fusefarm::worker {
namespace {

Verdict reject(VerdictClass klass, std::string reason, std::string detail) {
  return {klass, std::move(reason), std::move(detail), verify::kVerdictRuleVersion};
}

class Checker {
 public:
  Checker(ArmProcess& arm, TestBed& bed, bool deterministic, Duration deadline)
      : arm_(arm), bed_(bed), deterministic_(deterministic), deadline_(deadline) {}

  Result<Correctness> run() {
    // Set i holds entry i: one launch a set, in order.
    for (int entry = 0; entry < bed_.entries(); ++entry) {
      bed_.refill_set(entry, entry);
    }
    if (!launch(0, static_cast<std::uint32_t>(bed_.entries()), 1)) {
      return std::move(result_);
    }
    for (int set = 0; set < bed_.entries(); ++set) {
      if (!TRY(compare(set))) {
        return std::move(result_);
      }
    }
    if (deterministic_) {
      check_repeats();
    }
    return std::move(result_);
  }

 private:
  bool launch(std::uint32_t set, std::uint32_t launches, std::uint32_t pattern) {
    SlotEnd end = arm_.poison(pattern, deadline_);
    if (!end.fault) {
      end = arm_.launch(set, launches, deadline_);
      result_.device_time += end.elapsed;
    }
    result_.fault = end.fault;
    return !end.fault;
  }

  Result<bool> compare(int set) {
    childlink::Compared compared = TRY(bed_.compare(set));
    const bool ok = compared.record.ok;
    result_.records.push_back(std::move(compared.record));
    if (ok && !compared.inputs_unchanged) {
      result_.fault = reject(VerdictClass::kRejectMutation, "inputs",
                             "a launch changed an input that it only may read");
    }
    return ok && compared.inputs_unchanged;
  }

  // After a whole pass over other inputs: the first entry's bits must come again (no state between
  // launches), alone and under another poison of outputs and scratch.
  void check_repeats() {
    const std::vector<std::byte> first = bed_.image(0);
    if (!bed_.outputs_equal(1, first)) {
      result_.fault = reject(VerdictClass::kRejectNondet, "poison",
                             "the same inputs gave other bits where other values had been");
      return;
    }
    bed_.refill_set(0, 0);
    if (!launch(0, 1, 2)) {
      return;
    }
    if (!bed_.outputs_equal(0, first)) {
      result_.fault = reject(VerdictClass::kRejectStateful, "repeat",
                             "the same inputs gave other bits after other launches");
      return;
    }
    const std::vector<std::byte> again = bed_.image(0);
    bed_.refill_set(0, 0);
    if (launch(0, 1, 3) && !bed_.outputs_equal(0, again)) {
      result_.fault =
          reject(VerdictClass::kRejectNondet, "repeat", "two equal launches gave other bits");
    }
  }

  ArmProcess& arm_;
  TestBed& bed_;
  bool deterministic_;
  Duration deadline_;
  Correctness result_;
};

}  // namespace

Result<Correctness> check_candidate(ArmProcess& arm, TestBed& bed, bool deterministic,
                                    Duration deadline) {
  return Checker(arm, bed, deterministic, deadline).run();
}

}  // namespace fusefarm::worker
