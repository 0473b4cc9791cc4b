#include "worker/session.h"

#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/log.h"
#include "graph/graph_io.h"
#include "graph/region.h"
#include "worker/gemm_race.h"
#include "worker/host.h"
#include "worker/roofs.h"

namespace fusefarm::worker {
namespace {

constexpr std::size_t kBedsKept = 6;
constexpr std::int64_t kBedBytesKept = std::int64_t{512} << 20;

// Equal for all versions of one model: rewriting renumbers what lies inside regions, never weights.
Digest weights_digest(const graph::Graph& graph, const graph::Bindings& bindings) {
  DigestBuilder builder;
  for (const auto& [id, tensor] : graph.tensors()) {
    if (tensor.kind != graph::TensorKind::kWeight) {
      continue;
    }
    builder.add(static_cast<std::uint64_t>(id))
        .add(static_cast<std::uint64_t>(tensor.dtype))
        .add(static_cast<std::uint64_t>(tensor.init))
        .add(std::to_string(tensor.init_scale));
    for (const std::int64_t extent : graph::bound_shape(tensor, bindings)) {
      builder.add(static_cast<std::uint64_t>(extent));
    }
  }
  return builder.finish();
}

}  // namespace

Result<std::unique_ptr<Session>> Session::start(const WorkerOptions& options) {
  FUSEFARM_CHECK(options.clock != nullptr, "a worker without a clock");
  auto session = std::make_unique<Session>(Key{}, options);
  session->sandbox_ = TRY(
      Sandbox::detect({options.program_folder, options.bubblewrap, options.sandbox_degraded_ok}));
  if (session->sandbox_->level() != IsolationLevel::kFull) {
    logger("worker").warn("sandbox_degraded level={} why=\"{}\"", session->isolation(),
                          session->sandbox_->reason());
  }
  session->host_.sandbox = &*session->sandbox_;
  session->host_.clock = options.clock;
  session->host_.cores = usable_cores(options.threads);
  if (session->host_.cores.empty()) {
    return Error{ErrorCode::kEnvironment, "there is no core this process may run on"};
  }
  // More threads than cores are possible, but never faster.
  session->host_.threads =
      options.threads > 0 ? options.threads : static_cast<int>(session->host_.cores.size());
  session->device_class_ = worker::device_class(session->host_.cores.size());
  session->cache_bytes_ = last_level_cache_bytes();
  if (!options.cache_folder.empty()) {
    TRY(make_directories(options.cache_folder));
  }
  BuildOptions build;
  build.compiler = options.compiler;
  build.processes = static_cast<int>(session->host_.cores.size());
  build.cache_folder = options.cache_folder;
  session->builds_.emplace(*session->sandbox_, build, *options.clock);
  session->judge_ = TRY(JudgeClient::start(options.program_folder, *options.clock));
  return session;
}

Result<const ModelMemory*> Session::model(const graph::Graph& graph,
                                          const graph::Bindings& bindings) {
  const Digest digest = weights_digest(graph, bindings);
  if (model_ && model_->digest == digest) {
    return &*model_;
  }
  const graph::Graph base = graph::expand(graph);
  childlink::OpenModel request;
  request.graph_json = graph::to_json(base);
  drop_beds();  // they belong to the former model
  model_.reset();
  ModelMemory memory;
  memory.digest = digest;
  memory.layout = graph::weight_layout(base, bindings);
  memory.weights = TRY(SharedMemory::create("fusefarm-weights", memory.layout.bytes));
  memory.read_only = TRY(memory.weights.read_only());
  request.bindings = bindings;
  request.seed = options_.seed;
  request.threads = host_.threads;
  TRY(judge_->open_model(request, memory.weights.fd()));
  model_ = std::move(memory);
  return &*model_;
}

Result<TestBed*> Session::bed(const std::string& name,
                              const std::function<Result<std::unique_ptr<TestBed>>()>& make) {
  for (auto it = beds_.begin(); it != beds_.end(); ++it) {
    if (it->first == name) {
      beds_.splice(beds_.begin(), beds_, it);
      return beds_.front().second.get();
    }
  }
  beds_.emplace_front(name, TRY(make()));
  std::int64_t bytes = 0;
  std::size_t kept = 0;
  std::erase_if(beds_, [&](const auto& entry) {
    bytes += entry.second->bytes();
    return ++kept > 1 && (kept > kBedsKept || bytes > kBedBytesKept);
  });
  return beds_.front().second.get();
}

Result<const GemmChoice*> Session::gemm(const GemmKey& key, const ModelMemory& model) {
  const auto found = gemms_.find(key);
  if (found != gemms_.end()) {
    return &found->second;
  }
  GemmChoice choice = TRY(race_gemm(*this, key, model));
  return &gemms_.emplace(key, std::move(choice)).first->second;
}

Result<void> Session::choose_gemms(const graph::Graph& graph, const graph::Bindings& bindings,
                                   const ModelMemory& model) {
  const graph::Graph flat = graph::expand(graph);
  for (const graph::Node& node : flat.nodes()) {
    if (node.op == graph::OpKind::kLinear) {
      TRY(gemm(gemm_key(flat, node, bindings), model));
    }
  }
  return {};
}

std::string Session::library(const GemmKey& key) const {
  const auto found = gemms_.find(key);
  return found == gemms_.end() ? "packed" : found->second.library;
}

const verify::Roofs& Session::roofs() {
  if (!roofs_) {
    roofs_ = measure_roofs(host_.cores, cache_bytes_, *options_.clock);
  }
  return *roofs_;
}

Result<std::optional<ArmProcess>> Session::start_arm(const ArmInputs& inputs,
                                                     std::optional<Verdict>& fault) {
  auto arm = TRY(ArmProcess::start(host_, inputs, fault));
  if (!arm || arm->report().blas_core.empty()) {
    return arm;
  }
  blas_core_ = arm->report().blas_core;
  // Detection that ends at kernels without AVX2 on a CPU that has it would make a weak baseline.
  const std::string best = best_blas_core();
  if (!best.empty() && is_slow_blas_core(blas_core_) && host_.blas_core.empty()) {
    logger("worker").warn("blas_core_forced detected={} forced={}", blas_core_, best);
    arm.reset();
    host_.blas_core = best;
    arm = TRY(ArmProcess::start(host_, inputs, fault));
    blas_core_ = arm ? arm->report().blas_core : best;
    if (is_slow_blas_core(blas_core_)) {
      return Error{
          ErrorCode::kEnvironment,
          "OpenBLAS runs its '" + blas_core_ + "' kernels and can't be made to run '" + best + "'"};
    }
  }
  return arm;
}

}  // namespace fusefarm::worker
