// A whole model under one workload: its test bed, and executors of any of its versions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/job.h"
#include "worker/session.h"

namespace fusefarm::worker {

// The residual stream, where two versions can be compared layer by layer: sums that a later sum
// reads, as far as every version has them outside its regions.
std::vector<graph::TensorId> residual_stream(const graph::Graph& flat,
                                             const std::vector<const graph::Graph*>& versions);

class ModelBench {
 public:
  // `versions` (not empty) are versions of one model, all to be started here. Borrows the session.
  static Result<ModelBench> create(Session& session,
                                   const std::vector<const ModelVersion*>& versions,
                                   const Workload& workload, const JobContext& context);

  TestBed& bed() const { return *bed_; }

  Result<ArmInputs> lower(const ModelVersion& version) const;
  // Empty: `fault` says why.
  Result<std::optional<ArmProcess>> start(const ModelVersion& version,
                                          std::optional<Verdict>& fault) const;

 private:
  ModelBench(Session& session, const Workload& workload)
      : session_(&session), workload_(workload) {}

  Session* session_;
  Workload workload_;
  const ModelMemory* model_ = nullptr;
  TestBed* bed_ = nullptr;
  std::vector<graph::TensorId> exposed_;
};

// Pool entries of every model bed: the first is judged, all are timed.
constexpr int kModelEntries = 2;

}  // namespace fusefarm::worker
