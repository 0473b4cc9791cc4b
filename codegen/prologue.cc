#include "codegen/prologue.h"

#include <algorithm>
#include <set>

#include "codegen/region_shape.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

namespace {

bool member(const Stage& stage, graph::NodeId id) {
  return stage.linear == id || std::ranges::find(stage.nodes, id) != stage.nodes.end();
}

// Values made by a row stage, views of them included.
std::set<TensorId> values_of(const graph::Graph& region, const Stage& stage) {
  std::set<TensorId> values;
  for (const graph::NodeId id : stage.nodes) {
    for (const TensorId output : region.node(id).outputs) {
      values.insert(output);
    }
  }
  return values;
}

bool reads_any(const graph::Graph& region, const Stage& stage, const std::set<TensorId>& values,
               TensorId except) {
  const auto reads = [&](graph::NodeId id) {
    return std::ranges::any_of(region.node(id).inputs, [&](TensorId input) {
      return values.contains(input) && input != except;
    });
  };
  return (stage.linear != graph::kNone && reads(stage.linear)) ||
         std::ranges::any_of(stage.nodes, reads);
}

}  // namespace

Prologue prologue_of(const graph::Graph& region, const RegionPlan& plan, int gemm_stage) {
  const Stage& gemm = plan.stages[static_cast<std::size_t>(gemm_stage)];
  const TensorId x = region.node(gemm.linear).inputs[0];
  Prologue prologue;
  int readers = 0;
  for (const graph::NodeId id : region.consumers(x)) {
    readers += region.node(id).op == OpKind::kLinear ? 1 : 0;
  }
  const Node* producer = region.producer(x);
  if (producer == nullptr) {
    prologue.absorbable = readers == 1;
    return prologue;
  }
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (member(plan.stages[i], producer->id)) {
      prologue.producer = static_cast<int>(i);
    }
  }
  const Stage& rows = plan.stages[static_cast<std::size_t>(prologue.producer)];
  if (rows.kind != StageKind::kRows || readers != 1) {
    return prologue;
  }
  // Only block 0 writes what others read, so none of it may be read before the step ends.
  const std::set<TensorId> values = values_of(region, rows);
  for (int i = prologue.producer + 1; i <= gemm_stage; ++i) {
    const bool own = i == gemm_stage;
    if (reads_any(region, plan.stages[static_cast<std::size_t>(i)], values,
                  own ? x : graph::kNone)) {
      return prologue;
    }
  }
  if (std::ranges::find(gemm.nodes, producer->id) != gemm.nodes.end()) {
    return prologue;
  }
  // x itself must not be read by the epilogue either.
  for (const graph::NodeId id : gemm.nodes) {
    const auto& inputs = region.node(id).inputs;
    if (std::ranges::find(inputs, x) != inputs.end()) {
      return prologue;
    }
  }
  // Two GEMMs can't both take in the same stage, and caches are written once only.
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& other = plan.stages[i];
    if (static_cast<int>(i) != gemm_stage && other.kind == StageKind::kGemm &&
        values.contains(region.node(other.linear).inputs[0])) {
      return prologue;
    }
  }
  prologue.absorbable = std::ranges::none_of(rows.nodes, [&](graph::NodeId id) {
    const OpKind op = region.node(id).op;
    return op == OpKind::kKvWrite || op == OpKind::kRouterSelect;
  });
  return prologue;
}

}  // namespace fusefarm::codegen
