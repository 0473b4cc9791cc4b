#include "codegen/schedule.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "codegen/prologue.h"
#include "codegen/region_shape.h"
#include "codegen/schedule_point.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;

namespace {

void add_row_facts(const graph::Graph& region, const Stage& stage, const graph::Bindings& bindings,
                   RegionFacts& facts) {
  ++facts.row_stages;
  for (const graph::NodeId id : stage.nodes) {
    const Node& node = region.node(id);
    const bool by_input = node.op == OpKind::kKvWrite || node.op == OpKind::kSplit;
    const graph::Tensor& tensor = region.tensor(by_input ? node.inputs[0] : node.outputs[0]);
    facts.rows = std::max(facts.rows, bindings.of(tensor.shape.front()));
    facts.columns = std::max(facts.columns, row_columns(tensor).value_or(1));
    facts.norms = facts.norms || node.op == OpKind::kRmsNorm;
    facts.router = facts.router || node.op == OpKind::kRouterSelect;
    const bool makes_elements = node.op == OpKind::kAdd || node.op == OpKind::kCast ||
                                node.op == OpKind::kEmbedding || node.op == OpKind::kSelectRows ||
                                node.op == OpKind::kMoeFinalize;
    for (const graph::NodeId reader : region.consumers(node.outputs[0])) {
      facts.fusable_sums =
          facts.fusable_sums || (makes_elements && region.node(reader).op == OpKind::kRmsNorm);
    }
  }
  facts.elementwise = facts.elementwise && std::ranges::all_of(stage.nodes, [&](graph::NodeId id) {
                        const OpKind op = region.node(id).op;
                        return op == OpKind::kAdd || op == OpKind::kCast || op == OpKind::kSiluMul;
                      });
}

void add_gemm_facts(const graph::Graph& region, const RegionPlan& plan, int index,
                    const graph::Bindings& bindings, RegionFacts& facts) {
  const Stage& stage = plan.stages[static_cast<std::size_t>(index)];
  const Node& linear = region.node(stage.linear);
  const graph::Tensor& weight = region.tensor(linear.inputs[1]);
  GemmFacts gemm;
  gemm.rows = bindings.of(region.tensor(linear.inputs[0]).shape.front());
  gemm.n = weight.shape[0].factor;
  gemm.k = weight.shape[1].factor;
  gemm.head_dim = stage.head_dim;
  gemm.weight_width = graph::bytes_of(weight.dtype);
  gemm.halves = stage.halves;
  gemm.argmax = stage.argmax;
  gemm.absorbable = prologue_of(region, plan, index).absorbable;
  facts.gemms.push_back(gemm);
}

}  // namespace

RegionFacts region_facts(const graph::Graph& region, const RegionPlan& plan,
                         const graph::Bindings& bindings) {
  RegionFacts facts;
  facts.elementwise = true;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (plan.stages[i].kind == StageKind::kGemm) {
      add_gemm_facts(region, plan, static_cast<int>(i), bindings, facts);
    } else {
      add_row_facts(region, plan.stages[i], bindings, facts);
    }
  }
  for (const Node& node : region.nodes()) {
    facts.nodes += graph::is_view(node.op) ? 0 : 1;
  }
  for (const auto& [id, tensor] : region.tensors()) {
    const std::int64_t bytes = graph::byte_count(tensor, bindings);
    const Node* producer = region.producer(id);
    const bool view = producer != nullptr && graph::is_view(producer->op);
    if (tensor.kind == graph::TensorKind::kWeight) {
      facts.weight_bytes += bytes;
      facts.bf16 = facts.bf16 || tensor.dtype == graph::DType::kBF16;
    } else if (view || (producer != nullptr && !producer->aliases.empty()) ||
               tensor.kind == graph::TensorKind::kState) {
      continue;  // no traffic of its own; caches are touched in a few rows only
    } else if (is_region_input(region, id) || is_region_output(region, id)) {
      facts.boundary_bytes += bytes;
    } else {
      facts.interior_bytes += 2 * bytes;  // written and read back
    }
  }
  return facts;
}

ScheduleSpace::ScheduleSpace(const graph::Graph& region, const RegionPlan& plan,
                             const graph::Bindings& bindings, int threads, const Roofs& roofs)
    : facts_(region_facts(region, plan, bindings)), threads_(threads), roofs_(roofs) {
  const auto add = [&](const char* name, std::vector<std::int64_t> values) {
    parameters_.push_back({name, std::move(values)});
  };
  const bool rows_only = facts_.gemms.empty();
  if (facts_.row_stages > 0 || rows_only) {
    add("row_block", rows_only ? std::vector<std::int64_t>{1, 2, 4, 8, 16, 32}
                               : std::vector<std::int64_t>{1, 4});
  }
  if (rows_only) {
    add("row_unroll", {1, 2, 4, 8});
    add("row_prefetch", {0, 1, 2, 4});
    if (facts_.norms || facts_.router) {
      add("row_sums", {1, 2, 4});
    }
    if (facts_.fusable_sums) {
      add("row_fuse", {0, 1});
    }
    if (facts_.elementwise) {
      add("row_parts", {1, 2, 4, 8});
    }
    return;
  }
  const auto any = [&](const auto& predicate) {
    return std::ranges::any_of(facts_.gemms, predicate);
  };
  const bool many_rows = any([](const GemmFacts& gemm) { return gemm.rows >= 12; });
  add("k_unroll", {1, 2, 4, 8});
  add("k_block", {0, 256, 512});
  add("prefetch", {0, 1, 512, 1024, 4096});
  add("blocks_per_thread", {1, 2, 4, 8, 16});
  add("x_layout", {0, 1});
  if (any([](const GemmFacts& gemm) { return !gemm.halves && gemm.head_dim == 0; }) && many_rows) {
    add("unit_panels", {1, 2, 4});
  }
  if (any([](const GemmFacts& gemm) { return gemm.absorbable; })) {
    add("prologue", {0, 1});
  }
  // What decides whether a tile exists at all comes last: ranked() drops whole subspaces by it.
  if (any([](const GemmFacts& gemm) { return gemm.weight_width == 2; })) {
    add("pair", {0, 1});
    if (many_rows) {
      add("widen", {0, 1, 2});
    }
  }
  add("tile_rows", {1, 2, 3, 4, 6, 8});
  add("tile_vectors", {1, 2, 3, 4});
  add("panel", {8, 16, 24, 32, 48, 64});
}

std::int64_t ScheduleSpace::size() const {
  std::int64_t size = 1;
  for (const Parameter& parameter : parameters_) {
    size *= static_cast<std::int64_t>(parameter.values.size());
  }
  return size;
}

Schedule ScheduleSpace::at(std::int64_t index) const {
  FUSEFARM_CHECK(index >= 0 && index < size(), "schedule " + std::to_string(index));
  Schedule schedule;
  for (const Parameter& parameter : parameters_) {
    const auto count = static_cast<std::int64_t>(parameter.values.size());
    schedule[parameter.name] = parameter.values[static_cast<std::size_t>(index % count)];
    index /= count;
  }
  return schedule;
}

bool ScheduleSpace::valid(const Schedule& schedule) const {
  if (schedule.size() != parameters_.size()) {
    return false;
  }
  for (const Parameter& parameter : parameters_) {
    const auto found = schedule.find(parameter.name);
    if (found == schedule.end() ||
        std::ranges::find(parameter.values, found->second) == parameter.values.end()) {
      return false;
    }
  }
  return valid_point(facts_, point_of(schedule), threads_);
}

std::vector<Schedule> ScheduleSpace::neighbours(const Schedule& schedule) const {
  std::vector<Schedule> all;
  for (const Parameter& parameter : parameters_) {
    const auto found = schedule.find(parameter.name);
    if (found == schedule.end()) {
      continue;
    }
    const auto here = std::ranges::find(parameter.values, found->second);
    for (const int step : {-1, 1}) {
      const auto position = here - parameter.values.begin() + step;
      if (position < 0 || position >= static_cast<std::ptrdiff_t>(parameter.values.size())) {
        continue;
      }
      Schedule near = schedule;
      near[parameter.name] = parameter.values[static_cast<std::size_t>(position)];
      if (valid(near)) {
        all.push_back(std::move(near));
      }
    }
  }
  return all;
}

Prediction ScheduleSpace::predict(const Schedule& schedule) const {
  return predict_point(facts_, point_of(schedule), threads_, roofs_);
}

Schedule ScheduleSpace::sample(Random& random) const {
  constexpr int kAttempts = 100'000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Schedule schedule =
        at(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size()))));
    if (valid(schedule)) {
      return schedule;
    }
  }
  return start();
}

namespace {

// Walks the product from the last parameter to the first and keeps the best valid points.
class Ranking {
 public:
  Ranking(const RegionFacts& facts, const std::vector<Parameter>& parameters, int threads,
          const Roofs& roofs, std::size_t count)
      : facts_(facts), parameters_(parameters), threads_(threads), roofs_(roofs), count_(count) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      fields_.push_back(&point_.field(parameters_[i].name));
      strides_.push_back(i == 0 ? 1
                                : strides_.back() *
                                      static_cast<std::int64_t>(parameters_[i - 1].values.size()));
      const std::string& name = parameters_[i].name;
      if (name == "pair" || name == "widen" || name == "tile_rows") {
        tile_from_ = std::min(tile_from_, i);
      }
    }
  }

  std::vector<std::int64_t> run() {
    walk(parameters_.size(), 0);
    std::vector<std::int64_t> indices;
    for (const auto& [seconds, index] : best_) {
      indices.push_back(index);
    }
    return indices;
  }

 private:
  void walk(std::size_t left, std::int64_t index) {
    if (left == tile_from_ && !valid_tile(facts_, point_)) {
      return;
    }
    if (left == 0) {
      return visit(index);
    }
    const std::vector<std::int64_t>& values = parameters_[left - 1].values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      *fields_[left - 1] = values[i];
      walk(left - 1, index + static_cast<std::int64_t>(i) * strides_[left - 1]);
    }
  }

  void visit(std::int64_t index) {
    if (!valid_point(facts_, point_, threads_)) {
      return;
    }
    const std::pair entry{predict_point(facts_, point_, threads_, roofs_).seconds, index};
    if (best_.size() == count_) {
      if (count_ == 0 || *best_.rbegin() < entry) {
        return;
      }
      best_.erase(std::prev(best_.end()));
    }
    best_.insert(entry);
  }

  const RegionFacts& facts_;
  const std::vector<Parameter>& parameters_;
  const int threads_;
  const Roofs& roofs_;
  const std::size_t count_;
  SchedulePoint point_;
  std::vector<std::int64_t*> fields_;
  std::vector<std::int64_t> strides_;
  std::size_t tile_from_ = SIZE_MAX;
  std::set<std::pair<double, std::int64_t>> best_;
};

}  // namespace

std::vector<Schedule> ScheduleSpace::ranked(std::size_t count) const {
  std::vector<Schedule> schedules;
  for (const std::int64_t index : Ranking(facts_, parameters_, threads_, roofs_, count).run()) {
    schedules.push_back(at(index));
  }
  return schedules;
}

Schedule ScheduleSpace::start() const {
  const std::vector<Schedule> first = ranked(1);
  FUSEFARM_CHECK(!first.empty(), "the schedule space has no valid point");
  return first.front();
}

}  // namespace fusefarm::codegen
