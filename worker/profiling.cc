// Version 0 on this device: the library of every GEMM, the time of every node where it stands, and
// the roofs.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "verify/statistics.h"
#include "worker/model_bench.h"
#include "worker/session.h"

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

constexpr int kPasses = 15;
constexpr Duration kDeadline = 60s;

class Profiler {
 public:
  Profiler(ArmProcess& arm, TestBed& bed, const Program& program)
      : arm_(arm), bed_(bed), program_(program) {}

  Result<WorkloadProfile> run(const std::string& workload) {
    WorkloadProfile profile;
    profile.workload = workload;
    std::vector<double> whole;
    std::vector<double> empty;
    std::vector<std::vector<double>> steps(program_.steps.size());
    for (int pass = 0; pass < kPasses; ++pass) {
      bed_.refill(pass % kModelEntries, kModelEntries);
      whole.push_back(TRY(time(0, UINT32_MAX)));
      // Step by step through one launch: each finds the caches as in the model.
      for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i].push_back(
            TRY(time(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1))));
      }
      empty.push_back(TRY(time(0, 0)));
    }
    profile.step_seconds = verify::median(whole);
    // What signalling alone costs is no node's time.
    const double overhead = verify::median(empty);
    std::map<graph::NodeId, double> nodes;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      nodes[program_.steps[i].node] += std::max(verify::median(steps[i]) - overhead, 1e-7);
    }
    for (const auto& [node, spent] : nodes) {
      if (node != graph::kNone) {
        profile.nodes.push_back({node, spent});
      }
    }
    return profile;
  }

 private:
  Result<double> time(std::uint32_t begin, std::uint32_t end) {
    childlink::CommandArgs args;
    args.step_begin = begin;
    args.step_end = end;
    const SlotEnd slot = arm_.run(args, kDeadline);
    if (slot.fault) {
      return Error{ErrorCode::kUnavailable, "the baseline failed: " + slot.fault->detail};
    }
    return seconds(slot.elapsed);
  }

  ArmProcess& arm_;
  TestBed& bed_;
  const Program& program_;
};

}  // namespace

Result<ProfileResult> run_profile(Session& session, const ProfileJob& job,
                                  const JobContext& context) {
  ProfileResult result;
  for (const Workload& workload : job.workloads) {
    if (context.stop()) {
      return Error{ErrorCode::kCancelled, "cancelled between workloads"};
    }
    context.progress("profile", workload.name);
    const ModelBench bench = TRY(ModelBench::create(session, {&job.model}, workload, context));
    const ArmInputs inputs = TRY(bench.lower(job.model));
    std::optional<Verdict> fault;
    auto arm = TRY(session.start_arm(inputs, fault));
    if (!arm) {
      return Error{ErrorCode::kUnavailable, "the baseline does not start: " + fault->detail};
    }
    result.workloads.push_back(TRY(Profiler(*arm, bench.bed(), inputs.program).run(workload.name)));
    arm->stop();
  }
  for (const auto& [key, choice] : session.gemms()) {
    result.gemms.push_back(choice);
  }
  const verify::Roofs& roofs = session.roofs();
  result.copy_bytes_per_second = roofs.memory_bytes_per_second;
  result.flops_per_second = roofs.flops_per_second;
  result.device_class = session.device_class();
  result.toolchain = TRY(session.toolchain());
  result.isolation = session.isolation();
  result.blas_core = session.blas_core();
  return result;
}

}  // namespace fusefarm::worker
