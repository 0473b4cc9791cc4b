#include "worker/region_bench.h"

#include <algorithm>
#include <map>

#include "base/random.h"
#include "graph/cost.h"
#include "verify/inputs.h"

namespace fusefarm::worker {
namespace {

constexpr std::int64_t kWarmBytes = std::int64_t{8} << 20;  // of all launch sets together
constexpr int kSetsMax = 32;
constexpr double kHeavyFlops = 0.5e9;  // an oracle of this size costs about a second

struct Entries {
  std::vector<childlink::PoolEntry> all;
  int timed = 0;  // the first so many have the workload's own positions
};

// The first and the one that `repeats` names have the same inputs under another poison: equal
// outputs show that nothing depends on what was there before.
Entries pool_entries(std::uint64_t seed, const Digest& region, bool heavy) {
  using verify::Distribution;
  Random random = Random::keyed(seed, "pool", region.prefix());
  const std::uint64_t first = random.next();
  const auto name = [](Distribution distribution) {
    return std::string(verify::to_string(distribution));
  };
  Entries entries;
  entries.all = {{name(Distribution::kNormal), first, true, 0},
                 {name(Distribution::kNormal), first, true, 1},
                 {name(Distribution::kHeavyTail), random.next(), true, 1}};
  entries.timed = 3;
  if (!heavy) {
    entries.all.push_back({name(Distribution::kCancellation), random.next(), true, 0});
    entries.timed = 4;
    entries.all.push_back({name(Distribution::kHeavyTile), random.next(), false, 1});
  }
  return entries;
}

}  // namespace

std::vector<const Candidate*> candidates_of(const ImplementationTable& table) {
  std::vector<const Candidate*> candidates;
  for (const auto& [key, candidate] : table) {
    candidates.push_back(&candidate);
  }
  return candidates;
}

Result<std::vector<int>> artifact_fds(const codegen::Lowered& lowered, const BuildPool& builds,
                                      const ImplementationTable& table, const Candidate* extra) {
  std::map<Digest, const Candidate*> known;
  for (const Candidate* candidate : candidates_of(table)) {
    known.emplace(candidate->digest(), candidate);
  }
  if (extra != nullptr) {
    known.emplace(extra->digest(), extra);
  }
  std::vector<int> fds;
  for (const Digest& digest : lowered.artifacts) {
    const auto found = known.find(digest);
    const Artifact* artifact = found == known.end() ? nullptr : builds.find(*found->second);
    if (artifact == nullptr || artifact->object == nullptr) {
      return Error{
          ErrorCode::kInternal,
          "artifact " + digest.short_hex() + " is not built" +
              (artifact != nullptr && artifact->refused ? ": " + artifact->refused->detail : "")};
    }
    fds.push_back(artifact->object->get());
  }
  return fds;
}

Result<RegionBench> RegionBench::create(Session& session, const ScreenJob& job,
                                        const JobContext& context) {
  RegionBench bench(session, job);
  const graph::Bindings bindings = job.workload.bindings();
  bench.model_ = TRY(session.model(*job.model, bindings));
  TRY(session.choose_gemms(*job.region, bindings, *bench.model_));
  TRY(session.builds().build(candidates_of(job.implementations), *context.cancelled));
  bench.floor_seconds_ =
      verify::physical_floor_seconds(graph::region_cost(*job.region, bindings), session.roofs());
  TRY(bench.make_bed());
  return bench;
}

Result<void> RegionBench::make_bed() {
  const graph::Bindings bindings = job_->workload.bindings();
  const bool heavy = graph::region_cost(*job_->region, bindings).flops > kHeavyFlops;
  const Entries entries = pool_entries(session_->options().seed, job_->signature, heavy);
  timed_entries_ = entries.timed;
  bed_ = TRY(session_->bed(job_->signature.hex() + " " + job_->workload.name, [&] {
    const std::int64_t set_bytes = graph::boundary_layout(*job_->region, bindings).bytes;
    TestBedSpec spec;
    spec.graph = job_->region.get();
    spec.bindings = bindings;
    spec.tensor_of = job_->tensor_of;
    spec.entries = entries.all;
    // All entries fit side by side; beyond that, only what stays warm.
    const std::int64_t warm = kWarmBytes / std::max<std::int64_t>(set_bytes, 1);
    spec.sets =
        static_cast<int>(std::clamp<std::int64_t>(warm, std::ssize(spec.entries), kSetsMax));
    return TestBed::create(session_->judge(), spec);
  }));
  return {};
}

codegen::LowerOptions RegionBench::lower_options() const {
  codegen::LowerOptions options;
  options.bindings = job_->workload.bindings();
  options.boundary = bed_->layout();
  options.weights.bytes = model_->layout.bytes;
  for (std::size_t canonical = 0; canonical < job_->tensor_of.size(); ++canonical) {
    const auto found = model_->layout.offset.find(job_->tensor_of[canonical]);
    if (found != model_->layout.offset.end()) {
      options.weights.offset[static_cast<graph::TensorId>(canonical)] = found->second;
    }
  }
  options.rotation_bytes = session_->rotation_bytes();
  options.sets = bed_->sets();
  options.gemm = [session = session_](std::int64_t rows, std::int64_t n, std::int64_t k,
                                      graph::DType dtype) {
    return session->library({rows, n, k, dtype});
  };
  options.implementation = [job = job_](const Digest& signature) -> const Candidate* {
    const auto found = job->implementations.find({signature, job->workload.name});
    return found == job->implementations.end() ? nullptr : &found->second;
  };
  return options;
}

Result<ArmInputs> RegionBench::inputs_of(const codegen::Lowered& lowered,
                                         const Candidate* candidate) const {
  ArmInputs inputs;
  inputs.program = lowered.program;
  inputs.artifacts =
      TRY(artifact_fds(lowered, session_->builds(), job_->implementations, candidate));
  inputs.boundary_fd = bed_->boundary_fd();
  inputs.weights_fd = model_->read_only.get();
  return inputs;
}

Result<ArmProcess> RegionBench::start_incumbent() {
  const codegen::Lowered lowered = TRY(codegen::lower(*job_->incumbent, lower_options()));
  const ArmInputs inputs = TRY(inputs_of(lowered, nullptr));
  std::optional<Verdict> fault;
  auto arm = TRY(session_->start_arm(inputs, fault));
  if (!arm) {
    return Error{ErrorCode::kUnavailable, "the incumbent does not start: " + fault->detail};
  }
  return std::move(*arm);
}

Result<std::optional<ArmProcess>> RegionBench::start_candidate(const Candidate& candidate,
                                                               std::optional<Verdict>& fault) {
  auto lowered = codegen::lower_candidate(*job_->region, candidate, lower_options());
  if (!lowered.ok()) {
    // The plan contradicts its region in a way that reading it alone did not show.
    fault = Verdict{VerdictClass::kRejectStatic, "plan", lowered.error().message,
                    verify::kVerdictRuleVersion};
    return std::optional<ArmProcess>{};
  }
  const ArmInputs inputs = TRY(inputs_of(*lowered, &candidate));
  return session_->start_arm(inputs, fault);
}

}  // namespace fusefarm::worker
