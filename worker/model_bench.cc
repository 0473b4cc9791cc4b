#include "worker/model_bench.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "codegen/lower.h"
#include "graph/region.h"
#include "verify/inputs.h"
#include "worker/region_bench.h"

namespace fusefarm::worker {
namespace {

constexpr int kModelSets = 2;  // one a version for values; both in turn when timed

}  // namespace

std::vector<graph::TensorId> residual_stream(const graph::Graph& flat,
                                             const std::vector<const graph::Graph*>& versions) {
  std::vector<graph::TensorId> found;
  for (const auto& [id, tensor] : flat.tensors()) {
    const graph::Node* producer = flat.producer(id);
    if (producer == nullptr || producer->op != graph::OpKind::kAdd) {
      continue;
    }
    const auto is_sum = [&](graph::NodeId reader) {
      return flat.node(reader).op == graph::OpKind::kAdd;
    };
    const auto has_it = [tensor_id = id](const graph::Graph* version) {
      return version->producer(tensor_id) != nullptr;
    };
    if (std::ranges::any_of(flat.consumers(id), is_sum) && std::ranges::all_of(versions, has_it)) {
      found.push_back(id);
    }
  }
  return found;
}

Result<ModelBench> ModelBench::create(Session& session,
                                      const std::vector<const ModelVersion*>& versions,
                                      const Workload& workload, const JobContext& context) {
  ModelBench bench(session, workload);
  const graph::Bindings bindings = workload.bindings();
  const graph::Graph flat = graph::expand(*versions.front()->graph);
  bench.model_ = TRY(session.model(flat, bindings));
  TRY(session.choose_gemms(flat, bindings, *bench.model_));
  std::vector<const graph::Graph*> graphs;
  for (const ModelVersion* version : versions) {
    TRY(session.builds().build(candidates_of(version->implementations), *context.cancelled));
    graphs.push_back(version->graph.get());
  }
  bench.exposed_ = residual_stream(flat, graphs);
  std::string name = "model " + bench.model_->digest.hex() + " " + workload.name;
  for (const graph::TensorId id : bench.exposed_) {
    name += " " + std::to_string(id);
  }
  bench.bed_ = TRY(session.bed(name, [&] {
    Random random = Random::keyed(session.options().seed, "model-pool");
    TestBedSpec spec;
    spec.graph = &flat;
    spec.bindings = bindings;
    spec.exposed = bench.exposed_;
    spec.sets = kModelSets;
    spec.whole_model = true;
    spec.oracles = 0;  // of the first, when it is first compared
    for (int i = 0; i < kModelEntries; ++i) {
      spec.entries.push_back(
          {verify::to_string(verify::Distribution::kNormal), random.next(), true, i});
    }
    return TestBed::create(session.judge(), spec);
  }));
  for (const graph::Graph* graph : graphs) {
    if (graph::boundary_layout(*graph, bindings, bench.exposed_).offset !=
        bench.bed_->layout().offset) {
      return Error{ErrorCode::kInternal, "two versions of a model disagree about their boundary"};
    }
  }
  return bench;
}

Result<ArmInputs> ModelBench::lower(const ModelVersion& version) const {
  codegen::LowerOptions options;
  options.bindings = workload_.bindings();
  options.boundary = bed_->layout();
  options.weights = model_->layout;
  options.sets = bed_->sets();
  options.gemm = [session = session_](std::int64_t rows, std::int64_t n, std::int64_t k,
                                      graph::DType dtype) {
    return session->library({rows, n, k, dtype});
  };
  options.implementation = [this, &version](const Digest& signature) -> const Candidate* {
    const auto found = version.implementations.find({signature, workload_.name});
    return found == version.implementations.end() ? nullptr : &found->second;
  };
  const codegen::Lowered lowered = TRY(codegen::lower(*version.graph, options));
  ArmInputs inputs;
  inputs.program = lowered.program;
  inputs.artifacts =
      TRY(artifact_fds(lowered, session_->builds(), version.implementations, nullptr));
  inputs.boundary_fd = bed_->boundary_fd();
  inputs.weights_fd = model_->read_only.get();
  return inputs;
}

Result<std::optional<ArmProcess>> ModelBench::start(const ModelVersion& version,
                                                    std::optional<Verdict>& fault) const {
  const ArmInputs inputs = TRY(lower(version));
  return session_->start_arm(inputs, fault);
}

}  // namespace fusefarm::worker
