#include "codegen/generator.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/region_shape.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

const char* source_type(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::kBF16:
      return "u16";
    case graph::DType::kF32:
      return "float";
    case graph::DType::kI32:
      return "int";
  }
  return "float";
}

int EntryArgs::tensor(const LaunchArg& arg, const std::string& type, bool written) {
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (args_[i] == arg) {
      written_[i] = written_[i] || written;
      return static_cast<int>(i);
    }
  }
  args_.push_back(arg);
  types_.push_back(type);
  written_.push_back(written);
  return static_cast<int>(args_.size()) - 1;
}

void EntryArgs::declare(SourceText& text) const {
  for (std::size_t i = 0; i < args_.size(); ++i) {
    const std::string type = std::string(written_[i] ? "" : "const ") + types_[i] + "*";
    text.line("$0 p$1 = ($0)a->tensors[$1].data;", {type, i});
    text.line("long s$0 = a->tensors[$0].row_stride;", {i});
    text.line("(void)p$0; (void)s$0;", {i});
  }
}

std::int64_t InputPanel::row_stride() const {
  constexpr std::int64_t kPadding = 16;  // rows of x must not share cache sets
  return tiles ? 1 : columns + kPadding;
}

std::int64_t InputPanel::floats() const {
  return tiles ? (rows + tile_rows - 1) / tile_rows * tile_rows * columns : rows * row_stride();
}

Generator::Generator(const graph::Graph& graph, const RegionPlan& region_plan,
                     const Schedule& point, int thread_count, const graph::Bindings& shape)
    : region(graph), plan(region_plan), schedule(point), threads(thread_count), bindings(shape) {
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    const auto assign = [&](graph::NodeId id) {
      node_stage_[id] = static_cast<int>(i);
      for (const TensorId output : region.node(id).outputs) {
        stage_[output] = static_cast<int>(i);
      }
    };
    if (stage.kind == StageKind::kGemm) {
      assign(stage.linear);
    }
    for (const graph::NodeId id : stage.nodes) {
      assign(id);
      if (stage.kind == StageKind::kGemm && region.node(id).op == OpKind::kSplit) {
        head_splits.insert(id);
      }
    }
  }
}

std::int64_t Generator::at(const std::string& parameter, std::int64_t otherwise) const {
  const auto found = schedule.find(parameter);
  return found == schedule.end() ? otherwise : found->second;
}

std::int64_t Generator::columns(TensorId id) const {
  return row_columns(region.tensor(id)).value_or(1);
}

int Generator::input_index(TensorId id) const {
  const auto found = std::ranges::find(region.inputs, id);
  FUSEFARM_CHECK(found != region.inputs.end(), "tensor " + std::to_string(id) + " is no input");
  return static_cast<int>(found - region.inputs.begin());
}

int Generator::output_index(TensorId id) const {
  const auto found = std::ranges::find(region.outputs, id);
  return found == region.outputs.end() ? -1 : static_cast<int>(found - region.outputs.begin());
}

TensorId Generator::base(TensorId id) const {
  while (const Node* node = region.producer(id)) {
    if (node->op != OpKind::kSplit || head_splits.contains(node->id)) {
      break;
    }
    id = node->inputs[0];
  }
  return id;
}

std::int64_t Generator::base_column(TensorId id) const {
  const Node* node = region.producer(id);
  return node == nullptr || head_splits.contains(node->id) ? 0 : column_view(region, id).column;
}

int Generator::stage_of(TensorId id) const {
  const auto found = stage_.find(base(id));
  return found == stage_.end() ? -1 : found->second;
}

namespace {

// Readers of a tensor's elements, through views; each with the tensor it names.
void readers(const Generator& generator, TensorId id,
             std::vector<std::pair<const Node*, TensorId>>& out) {
  for (const graph::NodeId consumer : generator.region.consumers(id)) {
    const Node& node = generator.region.node(consumer);
    if (node.op == OpKind::kSplit && !generator.head_splits.contains(node.id)) {
      for (const TensorId part : node.outputs) {
        readers(generator, part, out);
      }
    } else {
      out.emplace_back(&node, id);
    }
  }
}

}  // namespace

bool Generator::used_later(TensorId id, int stage) const {
  std::vector<std::pair<const Node*, TensorId>> all;
  readers(*this, id, all);
  return std::ranges::any_of(all, [&](const auto& reader) {
    const bool as_x = reader.first->op == OpKind::kLinear && reader.first->inputs[0] == id;
    return !as_x && node_stage_.at(reader.first->id) > stage;
  });
}

bool Generator::used_inside(TensorId id, int stage) const {
  std::vector<std::pair<const Node*, TensorId>> all;
  readers(*this, id, all);
  return std::ranges::any_of(
      all, [&](const auto& reader) { return node_stage_.at(reader.first->id) == stage; });
}

Place Generator::read_place(TensorId id) {
  const TensorId whole = base(id);
  const std::int64_t column = base_column(id);
  const graph::DType dtype = region.tensor(whole).dtype;
  if (stage_of(id) < 0) {
    return {InputArg{input_index(whole)}, dtype, column};
  }
  if (const int own = output_index(id); own >= 0) {
    return {OutputArg{own}, dtype, 0};
  }
  if (const int output = output_index(whole); output >= 0) {
    return {OutputArg{output}, dtype, column};
  }
  const auto known = scratch_of.find(whole);
  FUSEFARM_CHECK(known != scratch_of.end(), "tensor " + std::to_string(id) + " has no memory");
  return {BufferArg{known->second}, graph::DType::kF32, column};
}

std::vector<std::pair<TensorId, Place>> Generator::write_places(TensorId id) {
  std::vector<std::pair<TensorId, Place>> places;
  const graph::DType dtype = region.tensor(id).dtype;
  const int output = output_index(id);
  if (output >= 0) {
    places.push_back({id, {OutputArg{output}, dtype, 0}});
  } else if (used_later(id, stage_of(id))) {
    if (!scratch_of.contains(id)) {
      scratch_of[id] = scratch(graph::DType::kF32, region.tensor(id).shape.front(), columns(id));
    }
    places.push_back({id, {BufferArg{scratch_of[id]}, graph::DType::kF32, 0}});
  }
  for (const auto& [tensor, unused] : region.tensors()) {
    const int view = output_index(tensor);
    if (view >= 0 && tensor != id && base(tensor) == id) {
      places.push_back({tensor, {OutputArg{view}, dtype, 0}});
    }
  }
  return places;
}

int Generator::scratch(graph::DType dtype, graph::Dim dim, std::int64_t columns_in_row) {
  BufferSpec spec;
  spec.kind = BufferKind::kScratch;
  spec.dtype = dtype;
  spec.rows = dim;
  spec.columns = columns_in_row;
  launch.buffers.push_back(spec);
  return static_cast<int>(launch.buffers.size()) - 1;
}

}  // namespace fusefarm::codegen
