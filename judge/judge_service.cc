#include "judge/judge_service.h"

#include <utility>

#include "graph/graph_io.h"

namespace fusefarm::judge {
namespace {

using childlink::JudgeReply;

Result<void> expect_fds(const std::vector<UniqueFd>& fds, std::size_t count) {
  if (fds.size() == count) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument, "the request came with " + std::to_string(fds.size()) +
                                                " descriptors instead of " + std::to_string(count)};
}

Result<graph::Graph> read_graph(const std::string& json) {
  graph::Graph graph = TRY(graph::graph_from_json(json));
  TRY(graph::validate(graph));
  return graph;
}

}  // namespace

JudgeReply JudgeService::handle(const childlink::JudgeRequest& request,
                                const std::vector<UniqueFd>& fds) {
  Result<JudgeReply> reply =
      std::visit([&](const auto& r) -> Result<JudgeReply> { return answer(r, fds); }, request);
  if (!reply) {
    return childlink::Failed{reply.error()};
  }
  return reply.take();
}

Result<JudgeReply> JudgeService::answer(const childlink::OpenModel& request,
                                        const std::vector<UniqueFd>& fds) {
  TRY(expect_fds(fds, 1));
  const graph::Graph graph = TRY(read_graph(request.graph_json));
  auto weights = std::make_unique<ModelWeights>();
  weights->layout = graph::weight_layout(graph, request.bindings);
  weights->threads = request.threads;
  weights->memory = TRY(MappedMemory::map(fds[0].get(), weights->layout.bytes, true));
  verify::fill_weights(graph, weights->layout, request.bindings, request.seed,
                       weights->memory.writable(), request.threads);
  pools_.clear();
  weights_ = std::move(weights);
  return JudgeReply(childlink::Done{});
}

Result<JudgeReply> JudgeService::answer(const childlink::OpenPool& request,
                                        const std::vector<UniqueFd>& fds) {
  TRY(expect_fds(fds, 2));
  if (weights_ == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "a pool needs a model to be opened before"};
  }
  PoolSpec spec;
  spec.graph = TRY(read_graph(request.graph_json));
  spec.bindings = request.bindings;
  spec.tensor_of = request.tensor_of;
  spec.exposed = request.exposed;
  spec.boundary_sets = request.boundary_sets;
  spec.whole_model = request.whole_model;
  for (const childlink::PoolEntry& entry : request.entries) {
    const auto distribution = verify::distribution_from(entry.distribution);
    if (!distribution) {
      return Error{ErrorCode::kInvalidArgument,
                   "no distribution is named '" + entry.distribution + "'"};
    }
    spec.entries.push_back({*distribution, entry.seed, entry.full_context, entry.poison});
  }
  pools_.emplace(next_pool_,
                 TRY(OraclePool::open(std::move(spec), fds[0].get(), fds[1].get(), *weights_)));
  return JudgeReply(childlink::PoolOpened{next_pool_++});
}

Result<OraclePool*> JudgeService::pool(std::int64_t number) {
  const auto found = pools_.find(number);
  if (found == pools_.end()) {
    return Error{ErrorCode::kNotFound, "no pool " + std::to_string(number)};
  }
  return &found->second;
}

Result<JudgeReply> JudgeService::answer(const childlink::Prepare& request,
                                        const std::vector<UniqueFd>& fds) {
  TRY(expect_fds(fds, 0));
  OraclePool* chosen = TRY(pool(request.pool));
  for (const int entry : request.entries) {
    TRY(chosen->prepare(entry));
  }
  return JudgeReply(childlink::Done{});
}

Result<JudgeReply> JudgeService::answer(const childlink::Compare& request,
                                        const std::vector<UniqueFd>& fds) {
  TRY(expect_fds(fds, 0));
  OraclePool* chosen = TRY(pool(request.pool));
  OraclePool::Checked checked = TRY(chosen->compare(request.set, request.entry));
  return JudgeReply(childlink::Compared{std::move(checked.record), checked.inputs_unchanged});
}

Result<JudgeReply> JudgeService::answer(const childlink::CompareModel& request,
                                        const std::vector<UniqueFd>& fds) {
  TRY(expect_fds(fds, 0));
  OraclePool* chosen = TRY(pool(request.pool));
  verify::ModelComparison c =
      TRY(chosen->compare_model(request.before, request.after, request.entry));
  childlink::ModelCompared reply;
  reply.values_ok = c.values_ok;
  reply.tokens_ok = c.tokens_ok;
  reply.error_before = c.error_before;
  reply.error_after = c.error_after;
  reply.tokens_compared = c.tokens_compared;
  reply.token_flips = c.token_flips;
  reply.flips_unexcused = c.flips_unexcused;
  reply.detail = std::move(c.detail);
  return JudgeReply(std::move(reply));
}

Result<JudgeReply> JudgeService::answer(const childlink::ClosePool& request,
                                        const std::vector<UniqueFd>& fds) {
  TRY(expect_fds(fds, 0));
  if (pools_.erase(request.pool) == 0) {
    return Error{ErrorCode::kNotFound, "no pool " + std::to_string(request.pool)};
  }
  return JudgeReply(childlink::Done{});
}

}  // namespace fusefarm::judge
