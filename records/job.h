// What a coordinator asks of a worker, and what comes back. Values only; a Transport carries them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/result.h"
#include "graph/graph.h"
#include "records/campaign.h"
#include "records/candidate.h"
#include "records/measurement.h"
#include "records/outcome.h"
#include "records/workload.h"

namespace fusefarm {

// Accepted implementations: (region signature, workload name) -> candidate. A region without an
// entry for a workload runs its body unfused there.
using ImplementationTable = std::map<std::pair<Digest, std::string>, Candidate>;

// A frozen graph version with its implementations.
struct ModelVersion {
  std::shared_ptr<const graph::Graph> graph;
  ImplementationTable implementations;
};

// Baseline: chooses the library per GEMM and shape by measurement, then profiles version 0.
struct ProfileJob {
  ModelVersion model;
  std::vector<Workload> workloads;
};

// One region x workload, several candidates: compile -> inspect -> correctness -> screen, each.
struct ScreenJob {
  std::shared_ptr<const graph::Graph> model;   // for the weights: the graph the occurrence is in
  std::shared_ptr<const graph::Graph> region;  // canonical
  Digest signature;
  std::vector<graph::TensorId>
      tensor_of;  // canonical tensor -> tensor of `model`, first occurrence
  Workload workload;
  // What the incumbent arm runs: `region` itself, or, when accepted regions lie inside it, the same
  // graph (same boundary tensors, same order) with those still contracted to kRegion nodes.
  std::shared_ptr<const graph::Graph> incumbent;
  ImplementationTable implementations;  // of the kRegion nodes of `incumbent`
  Digest incumbent_digest;              // zero: the unfused baseline; copied into the outcomes
  std::vector<Candidate> candidates;
  std::vector<ExperimentId> experiments;  // one per candidate, same order
};

// Fresh processes, superiority by at least min_gain at the declared error rate; only its estimate
// is quoted. `screened` is the outcome so far; the result adds the confirmation.
struct ConfirmJob {
  ScreenJob subject;  // with exactly one candidate
  Outcome screened;
};

// Whole model: `after` against `before`.
struct IntegrateJob {
  std::string kind;  // integration (non-inferior in time) | end_to_end (superiority reported)
  ModelVersion before, after;
  std::vector<Workload> workloads;
  // integration: tolerated log slow-down, max(0.3 %, half the device class's detectable gain). A
  // CPU device tells 2 % apart: honest slots of 29 ms disagree by nearly that much.
  double margin = 0.01;
};

using Job = std::variant<ProfileJob, ScreenJob, ConfirmJob, IntegrateJob>;

struct NodeProfile {
  graph::NodeId node = graph::kNone;
  double seconds = 0;  // median, in situ
};

struct GemmChoice {
  std::int64_t rows = 0, n = 0, k = 0;
  graph::DType dtype = graph::DType::kBF16;
  std::string library;                    // packed | openblas | onednn
  std::map<std::string, double> seconds;  // of each library tried
};

struct WorkloadProfile {
  std::string workload;
  double step_seconds = 0;
  std::vector<NodeProfile> nodes;
};

struct ProfileResult {
  std::vector<WorkloadProfile> workloads;
  std::vector<GemmChoice> gemms;
  double copy_bytes_per_second = 0;  // measured roofs
  double flops_per_second = 0;
  std::string device_class, toolchain, isolation, blas_core;
};

struct ScreenResult {
  std::vector<Outcome> outcomes;  // one per candidate, same order
};

struct WorkloadIntegration {
  std::string workload;
  bool values_ok = false;
  double error_before = 0, error_after = 0;  // worst teacher-forced relative error over layers
  std::int64_t tokens_compared = 0, token_flips = 0, flips_unexcused = 0;
  Interval time;  // log speed-up of `after`
  PairedMeasurement measurement;
  double before_seconds = 0, after_seconds = 0;  // medians of a step
};

struct IntegrationResult {
  bool ok = false;
  Verdict verdict;  // kImproved / kNoGain / kIntegrationFail{diverge,tokens,regress} / kInfra
  std::vector<WorkloadIntegration> workloads;
  Interval combined;  // weighted by the workloads' share of serving time
  double margin = 0;
};

using JobResult = std::variant<ProfileResult, ScreenResult, Outcome, IntegrationResult>;

// Progress of a running job, for people only.
struct JobProgress {
  std::string stage;  // compile, verify, screen, confirm, ...
  std::string detail;
};

}  // namespace fusefarm
