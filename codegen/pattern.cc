#include "codegen/pattern.h"

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/region_shape.h"

namespace fusefarm::codegen {
namespace {

using graph::DType;
using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

constexpr std::int64_t kColumnMultiple = 8;  // vectors without a tail
constexpr int kInput = -1;                   // stage of what the region is given

bool is_row_op(OpKind op) {
  switch (op) {
    case OpKind::kRmsNorm:
    case OpKind::kAdd:
    case OpKind::kRope:
    case OpKind::kKvWrite:
    case OpKind::kSiluMul:
    case OpKind::kRouterSelect:
    case OpKind::kCast:
    case OpKind::kEmbedding:
    case OpKind::kSelectRows:
    case OpKind::kMoeFinalize:
      return true;
    default:
      return false;
  }
}

bool wide_enough(const Tensor& tensor) {
  const auto columns = row_columns(tensor);
  return columns && *columns > 0 && *columns % kColumnMultiple == 0;
}

// Dims that the emitters handle: whole vectors per row, per head and per half.
bool supported_shape(const Graph& region, const Node& node) {
  const Tensor& first = region.tensor(node.inputs.at(0));
  switch (node.op) {
    case OpKind::kRmsNorm:
      return first.shape.back().factor % kColumnMultiple == 0 && wide_enough(first);
    case OpKind::kRope: {
      const std::int64_t dim = first.shape.back().factor;
      const std::int64_t rotary = node.attrs.integer("rotary_dim", dim);
      return first.shape.size() == 3 && dim % kColumnMultiple == 0 &&
             (rotary == 0 ? dim : rotary) % (2 * kColumnMultiple) == 0 &&
             node.attrs.integer("interleaved", 0) == 0;
    }
    case OpKind::kSiluMul:
      return wide_enough(region.tensor(node.outputs.at(0)));
    case OpKind::kRouterSelect:
      return first.dtype == DType::kF32 && wide_enough(first) &&
             row_columns(first).value_or(0) <= 1024;
    case OpKind::kEmbedding:
      return wide_enough(region.tensor(node.outputs.at(0)));
    case OpKind::kLinear: {
      const Tensor& weight = region.tensor(node.inputs.at(1));
      return weight.kind == graph::TensorKind::kWeight && weight.shape.size() == 2 &&
             weight.shape[0].factor % kColumnMultiple == 0 &&
             weight.shape[1].factor % kColumnMultiple == 0 &&
             weight.shape[0].symbol == graph::Symbol::kOne && first.shape.size() == 2;
    }
    case OpKind::kSplit:
      return std::ranges::all_of(node.outputs,
                                 [&](TensorId id) { return wide_enough(region.tensor(id)); });
    case OpKind::kArgmax:
      return wide_enough(first);
    default:
      return wide_enough(first);
  }
}

class Matcher {
 public:
  explicit Matcher(const Graph& region) : region_(region) {}

  std::optional<RegionPlan> run() {
    for (const Node& node : region_.nodes()) {
      if (!may_fuse(node) || !supported_shape(region_, node) || !place(node)) {
        return std::nullopt;
      }
    }
    if (plan_.stages.empty()) {
      return std::nullopt;
    }
    plan_.family = family();
    return std::move(plan_);
  }

 private:
  bool place(const Node& node) {
    if (node.op == OpKind::kLinear) {
      return place_linear(node);
    }
    if (node.op == OpKind::kSplit) {
      return place_split(node);
    }
    const int latest = latest_stage(node);
    if (latest >= 0 && is_gemm(latest) && fits_epilogue(node, latest)) {
      return join(node, latest);
    }
    if (node.op == OpKind::kArgmax) {
      return false;  // only as the end of a GEMM
    }
    return join(node, row_stage_for(node, latest));
  }

  bool place_linear(const Node& node) {
    Stage stage;
    stage.kind = StageKind::kGemm;
    stage.linear = node.id;
    plan_.stages.push_back(stage);
    const int index = last();
    stage_of_[node.outputs[0]] = index;
    chain_[node.outputs[0]] = true;
    return true;
  }

  bool place_split(const Node& node) {
    const TensorId whole = node.inputs[0];
    const int stage = stage_at(whole);
    const bool local = stage >= 0 && is_gemm(stage) && linear_of(stage).outputs[0] == whole &&
                       plan_.stages[static_cast<std::size_t>(stage)].nodes.empty() &&
                       sole_consumer(whole, node);
    const std::int64_t dim = region_.tensor(node.outputs[0]).shape.back().factor;
    if (local && equal_heads(node, dim)) {
      plan_.stages[static_cast<std::size_t>(stage)].head_dim = dim;
      for (const TensorId output : node.outputs) {
        chain_[output] = true;
      }
      return join(node, stage);
    }
    const bool shown = std::ranges::any_of(
        node.outputs, [&](TensorId id) { return is_region_output(region_, id); });
    if (shown) {
      return false;  // a view of a value that would need memory of its own
    }
    if (stage >= 0 && is_gemm(stage)) {
      return join(node, row_stage_for(node, stage));
    }
    return join(node, stage >= 0 ? stage : row_stage_for(node, stage));
  }

  bool equal_heads(const Node& split, std::int64_t dim) const {
    return std::ranges::all_of(split.outputs, [&](TensorId id) {
      const Tensor& tensor = region_.tensor(id);
      return tensor.shape.size() == 3 && tensor.shape[2].factor == dim;
    });
  }

  // A column-local op on what the GEMM's epilogue has at hand.
  bool fits_epilogue(const Node& node, int stage) const {
    const Stage& gemm = plan_.stages[static_cast<std::size_t>(stage)];
    const TensorId linear_out = linear_of(stage).outputs[0];
    if (gemm.argmax) {
      return false;
    }
    const auto at_hand = [&](TensorId id) { return stage_at(id) == stage && chain_.contains(id); };
    const auto earlier = [&](TensorId id) { return stage_at(id) < stage; };
    switch (node.op) {
      case OpKind::kAdd: {
        const bool first = at_hand(node.inputs[0]) && earlier(node.inputs[1]);
        const bool second = at_hand(node.inputs[1]) && earlier(node.inputs[0]);
        return gemm.head_dim == 0 && (first || second);
      }
      case OpKind::kCast:
        return gemm.head_dim == 0 && at_hand(node.inputs[0]);
      case OpKind::kSiluMul:
        return node.inputs[0] == linear_out && gemm.nodes.empty() &&
               sole_consumer(linear_out, node);
      case OpKind::kRmsNorm:
        return gemm.head_dim > 0 && at_hand(node.inputs[0]) &&
               region_.tensor(node.inputs[0]).shape.back().factor == gemm.head_dim;
      case OpKind::kRope:
        return gemm.head_dim > 0 && at_hand(node.inputs[0]) && earlier(node.inputs[1]);
      case OpKind::kKvWrite:
        return gemm.head_dim > 0 && at_hand(node.inputs[0]) && at_hand(node.inputs[1]) &&
               earlier(node.inputs[2]) && earlier(node.inputs[3]) && earlier(node.inputs[4]);
      case OpKind::kArgmax:
        return gemm.head_dim == 0 && !gemm.halves && at_hand(node.inputs[0]) &&
               region_.consumers(node.outputs[0]).empty();
      default:
        return false;
    }
  }

  bool join(const Node& node, int stage) {
    Stage& target = plan_.stages[static_cast<std::size_t>(stage)];
    target.nodes.push_back(node.id);
    const bool gemm = target.kind == StageKind::kGemm;
    target.halves = target.halves || (gemm && node.op == OpKind::kSiluMul);
    target.argmax = target.argmax || (gemm && node.op == OpKind::kArgmax);
    for (const TensorId output : node.outputs) {
      stage_of_[output] = stage;
      if (gemm && node.op != OpKind::kKvWrite && node.op != OpKind::kArgmax) {
        chain_[output] = true;
      }
    }
    return true;
  }

  // The first row stage of the same rows that runs no earlier than the node's inputs, or a new one.
  int row_stage_for(const Node& node, int latest) {
    const graph::Dim rows = rows_of(node);
    for (int i = std::max(latest, 0); i <= last(); ++i) {
      const Stage& stage = plan_.stages[static_cast<std::size_t>(i)];
      if (stage.kind != StageKind::kRows || rows_of(region_.node(stage.nodes.front())) != rows) {
        continue;
      }
      // A gather reads other rows than its own: those must be in memory already.
      const bool gathers = node.op == OpKind::kSelectRows || node.op == OpKind::kMoeFinalize;
      if (!(gathers && stage_at(node.inputs[0]) == i)) {
        return i;
      }
    }
    plan_.stages.emplace_back();
    return last();
  }

  graph::Dim rows_of(const Node& node) const {
    if (node.op == OpKind::kKvWrite || node.op == OpKind::kSplit) {
      return row_dim(region_.tensor(node.inputs[0]));
    }
    return row_dim(region_.tensor(node.outputs[0]));
  }

  bool sole_consumer(TensorId tensor, const Node& node) const {
    const auto consumers = region_.consumers(tensor);
    return consumers.size() == 1 && consumers[0] == node.id && !is_region_output(region_, tensor);
  }

  int latest_stage(const Node& node) const {
    int latest = kInput;
    for (const TensorId input : node.inputs) {
      latest = std::max(latest, stage_at(input));
    }
    return latest;
  }

  int stage_at(TensorId tensor) const {
    const auto found = stage_of_.find(tensor);
    return found == stage_of_.end() ? kInput : found->second;
  }

  bool is_gemm(int stage) const {
    return plan_.stages[static_cast<std::size_t>(stage)].kind == StageKind::kGemm;
  }

  const Node& linear_of(int stage) const {
    return region_.node(plan_.stages[static_cast<std::size_t>(stage)].linear);
  }

  int last() const { return static_cast<int>(plan_.stages.size()) - 1; }

  std::string family() const {
    int gemms = 0;
    Stage gemm;
    bool router = false;
    for (const Stage& stage : plan_.stages) {
      if (stage.kind == StageKind::kGemm) {
        ++gemms;
        gemm = stage;
      }
      for (const graph::NodeId id : stage.nodes) {
        router = router || region_.node(id).op == OpKind::kRouterSelect;
      }
    }
    if (gemms > 1) {
      return "gemm_chain";
    }
    if (gemms == 0) {
      return router ? "router" : "rowwise";
    }
    if (gemm.argmax) {
      return "lm_head_argmax";
    }
    if (gemm.halves) {
      return "gemm_silu_mul";
    }
    return gemm.head_dim > 0 ? "gemm_heads" : "skinny_gemm";
  }

  const Graph& region_;
  RegionPlan plan_;
  std::map<TensorId, int> stage_of_;
  std::map<TensorId, bool> chain_;  // values that a GEMM's epilogue has at hand
};

}  // namespace

bool may_fuse(const Node& node) {
  return is_row_op(node.op) || node.op == OpKind::kLinear || node.op == OpKind::kSplit ||
         node.op == OpKind::kArgmax || node.op == OpKind::kRegion;
}

std::optional<RegionPlan> match(const Graph& region) {
  for (const Node& node : region.nodes()) {
    if (node.op == OpKind::kRegion || !may_fuse(node)) {
      return std::nullopt;
    }
  }
  return Matcher(region).run();
}

}  // namespace fusefarm::codegen
