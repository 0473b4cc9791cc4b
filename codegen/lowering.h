// The state of one lower() call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "codegen/lower.h"
#include "graph/graph.h"
#include "records/program.h"

namespace fusefarm::codegen {

// Where the tensors of one graph lie: the graph itself, or the body of a region in it.
struct Scope {
  const graph::Graph* graph = nullptr;
  std::map<graph::TensorId, TensorRef> refs;
};

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const LowerOptions& options);

  // Boundary buffers first; then either of the two that follow; then finish().
  Result<void> place_boundary();
  Result<void> lower_nodes(Scope& scope);
  // `region` is the canonical graph of the plan; its inputs and outputs correspond to the tensors
  // `inputs` and `outputs` of `outer`.
  Result<void> lower_plan(Scope& outer, const graph::Graph& region, const Candidate& candidate,
                          const std::vector<graph::TensorId>& inputs,
                          const std::vector<graph::TensorId>& outputs);
  Lowered finish();

  Scope& top() { return top_; }

 private:
  struct PlanArgs {
    std::vector<TensorRef> inputs, outputs, buffers;
  };

  Result<void> lower_node(Scope& scope, const graph::Node& node);
  Result<void> lower_region(Scope& scope, const graph::Node& node);
  Result<void> lower_split(Scope& scope, const graph::Node& node);
  Result<void> lower_linear(Scope& scope, const graph::Node& node);
  Result<void> lower_builtin(Scope& scope, const graph::Node& node);
  Result<TensorRef> plan_buffer(const BufferSpec& spec, const graph::Graph& region,
                                const PlanArgs& args);
  Result<void> plan_kernel(const KernelStep& step, const PlanArgs& args, std::int32_t artifact);

  // The tensor's place; allocates private memory for one that has none yet.
  Result<TensorRef> resolve(Scope& scope, graph::TensorId id);
  Result<TensorRef> weight(const graph::Tensor& tensor);
  TensorRef prepared(const TensorRef& weight, const PreparedLayout& layout, std::int64_t n,
                     std::int64_t k);
  TensorRef add_buffer(ProgramBuffer buffer);
  graph::Attrs step_attrs(const Scope& scope, const graph::Node& node) const;
  std::int32_t artifact(const Candidate& candidate);

  const graph::Graph& graph_;
  const LowerOptions& options_;
  Lowered result_;
  Scope top_;
  std::map<graph::TensorId, TensorRef> weights_;  // by id in the outermost graph
  std::map<std::tuple<std::int32_t, std::int64_t, RowOrder, graph::DType, bool>, TensorRef>
      prepared_;
  std::int32_t node_ = graph::kNone;  // the outermost node being lowered
};

}  // namespace fusefarm::codegen
