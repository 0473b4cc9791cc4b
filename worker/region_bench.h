// Everything a region's comparisons share: its test bed, the incumbent's program, how to make a
// candidate's, and how long slots are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/lower.h"
#include "records/job.h"
#include "worker/pairing.h"
#include "worker/session.h"

namespace fusefarm::worker {

// A lowered program with the descriptors of its artifacts.
struct LoweredArm {
  Program program;
  std::vector<int> artifacts;
};

class RegionBench {
 public:
  // Weights, oracles, GEMM choices, the incumbent's artifacts: nothing is left to compute beside a
  // timed slot. `job` is borrowed for the life of the bench.
  static Result<RegionBench> create(Session& session, const ScreenJob& job,
                                    const JobContext& context);

  TestBed& bed() const { return *bed_; }

  int timed_entries() const { return timed_entries_; }

  double floor_seconds() const { return floor_seconds_; }

  Result<ArmProcess> start_incumbent();
  // The candidate must be built. Empty: `fault` says why.
  Result<std::optional<ArmProcess>> start_candidate(const Candidate& candidate,
                                                    std::optional<Verdict>& fault);

 private:
  RegionBench(Session& session, const ScreenJob& job) : session_(&session), job_(&job) {}

  Result<void> make_bed();
  codegen::LowerOptions lower_options() const;
  Result<ArmInputs> inputs_of(const codegen::Lowered& lowered, const Candidate* candidate) const;

  Session* session_;
  const ScreenJob* job_;
  const ModelMemory* model_ = nullptr;
  TestBed* bed_ = nullptr;
  int timed_entries_ = 1;
  double floor_seconds_ = 0;
};

// The candidates of a table, to be built before anything that may contain them is lowered.
std::vector<const Candidate*> candidates_of(const ImplementationTable& table);

// Descriptors of a lowered program's artifacts in its order. `extra` may be null.
Result<std::vector<int>> artifact_fds(const codegen::Lowered& lowered, const BuildPool& builds,
                                      const ImplementationTable& table, const Candidate* extra);

}  // namespace fusefarm::worker
