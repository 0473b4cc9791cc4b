// What a worker keeps between jobs: sandbox, compilers, judge, weights, test beds, and what it has
// measured about its device.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "records/job.h"
#include "records/transport.h"
#include "verify/verdict_rule.h"
#include "worker/arm.h"
#include "worker/build_pool.h"
#include "worker/job_handler.h"
#include "worker/judge_client.h"
#include "worker/sandbox.h"
#include "worker/shared_memory.h"
#include "worker/test_bed.h"

namespace fusefarm::worker {

// One job's way of talking to who asked for it.
struct JobContext {
  LeaseId lease;
  const std::function<void(TransportEvent)>* report = nullptr;
  const std::function<bool()>* cancelled = nullptr;

  void progress(const std::string& stage, const std::string& detail) const {
    (*report)({lease, JobProgress{stage, detail}});
  }

  bool stop() const { return (*cancelled)(); }
};

struct GemmKey {
  std::int64_t rows = 0, n = 0, k = 0;
  graph::DType dtype = graph::DType::kBF16;
  friend auto operator<=>(const GemmKey&, const GemmKey&) = default;
};

// The weights of the model in work, filled by the judge.
struct ModelMemory {
  Digest digest;  // of its weights
  graph::WeightLayout layout;
  SharedMemory weights;
  UniqueFd read_only;
};

class Session {
  struct Key {};

 public:
  static Result<std::unique_ptr<Session>> start(const WorkerOptions& options);

  // For start() alone, which has the key.
  Session(Key, const WorkerOptions& options) : options_(options) {}

  const WorkerOptions& options() const { return options_; }

  const Clock& clock() const { return *options_.clock; }

  const ArmHost& host() const { return host_; }

  BuildPool& builds() { return *builds_; }

  JudgeClient& judge() { return *judge_; }

  const std::string& device_class() const { return device_class_; }

  std::string isolation() const { return to_string(sandbox_->level()); }

  Result<std::string> toolchain() { return builds_->toolchain(); }

  std::int64_t cache_bytes() const { return cache_bytes_; }

  // Weight bytes that launches must rotate over to be as cold as in the model.
  std::int64_t rotation_bytes() const { return 2 * cache_bytes_; }

  // The weights of the model that `graph` (contracted or not) belongs to.
  Result<const ModelMemory*> model(const graph::Graph& graph, const graph::Bindings& bindings);

  // The test bed of this name, made by `make` when there is none yet. A few are kept.
  Result<TestBed*> bed(const std::string& name,
                       const std::function<Result<std::unique_ptr<TestBed>>()>& make);

  void drop_beds() { beds_.clear(); }

  // The fastest library for a GEMM, measured at its first use and kept.
  Result<const GemmChoice*> gemm(const GemmKey& key, const ModelMemory& model);
  // Measures every kLinear of a graph, so that lower() finds its choice.
  Result<void> choose_gemms(const graph::Graph& graph, const graph::Bindings& bindings,
                            const ModelMemory& model);
  std::string library(const GemmKey& key) const;

  const std::map<GemmKey, GemmChoice>& gemms() const { return gemms_; }

  // Measured at first use.
  const verify::Roofs& roofs();

  // OpenBLAS's kernels as an executor reported them; "" before any did.
  const std::string& blas_core() const { return blas_core_; }

  // An arm, or the verdict on its artifacts.
  Result<std::optional<ArmProcess>> start_arm(const ArmInputs& inputs,
                                              std::optional<Verdict>& fault);

 private:
  WorkerOptions options_;
  std::optional<Sandbox> sandbox_;
  std::optional<BuildPool> builds_;
  std::optional<JudgeClient> judge_;
  ArmHost host_;
  std::string device_class_, blas_core_;
  std::int64_t cache_bytes_ = 0;
  std::optional<verify::Roofs> roofs_;
  std::optional<ModelMemory> model_;
  std::map<GemmKey, GemmChoice> gemms_;
  std::list<std::pair<std::string, std::unique_ptr<TestBed>>> beds_;  // used last comes first
};

// The jobs. Each returns its result, or an Error of infrastructure.
Result<ScreenResult> run_screen(Session& session, const ScreenJob& job, const JobContext& context);
Result<Outcome> run_confirm(Session& session, const ConfirmJob& job, const JobContext& context);
Result<IntegrationResult> run_integration(Session& session, const IntegrateJob& job,
                                          const JobContext& context);
Result<ProfileResult> run_profile(Session& session, const ProfileJob& job,
                                  const JobContext& context);

}  // namespace fusefarm::worker
