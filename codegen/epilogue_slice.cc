#include "codegen/epilogue_slice.h"

#include <algorithm>

#include "codegen/kernels/rope_table.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

EpilogueSlice::EpilogueSlice(Generator& generator, EntryArgs& args, const GemmShape& shape,
                             TensorId branch)
    : g_(generator),
      args_(args),
      shape_(shape),
      plan_stage_(generator.plan.stages[static_cast<std::size_t>(shape.stage)]),
      linear_out_(generator.region.node(plan_stage_.linear).outputs[0]),
      branch_(branch) {}

bool EpilogueSlice::in_accumulators(TensorId id) const {
  return id == (branch_ == graph::kNone ? linear_out_ : branch_);
}

bool EpilogueSlice::concerns(const Node& node) const {
  if (branch_ == graph::kNone) {
    return true;
  }
  return std::ranges::any_of(
      node.inputs, [&](TensorId id) { return in_accumulators(id) || local_.contains(id); });
}

std::string EpilogueSlice::read(TensorId id) {
  if (in_accumulators(id)) {
    return filled("(y + (m - m0) * $0)", {shape_.width});
  }
  if (local_.contains(id)) {
    return "t" + std::to_string(id);
  }
  if (g_.stage_of(id) == shape_.stage) {
    return "";  // of another branch of heads
  }
  const Place place = g_.read_place(id);
  const int arg = args_.tensor(place.arg, source_type(place.dtype), false);
  return filled("(p$0 + m * s$0 + $1 + column)", {arg, place.column});
}

std::string EpilogueSlice::whole(TensorId id) {
  const Place place = g_.read_place(id);
  return "p" + std::to_string(args_.tensor(place.arg, source_type(place.dtype), false));
}

std::vector<Sink> EpilogueSlice::sinks(TensorId id) {
  std::vector<Sink> sinks;
  const Node& producer = *g_.region.producer(id);
  if (producer.op == OpKind::kKvWrite) {
    const int arg =
        args_.tensor(OutputArg{g_.output_index(id)}, source_type(g_.region.tensor(id).dtype), true);
    return {{filled("(p$0 + slot * s$0 + column)", {arg}), 0}};
  }
  if (!in_accumulators(id) && g_.used_inside(id, shape_.stage)) {
    g_.text.line("alignas(32) float t$0[$1];", {id, width(id)});
    local_.insert(id);
    sinks.push_back({"t" + std::to_string(id), 0});
  }
  for (const auto& [tensor, place] : g_.write_places(id)) {
    const int arg = args_.tensor(place.arg, source_type(place.dtype), true);
    sinks.push_back({filled("(p$0 + m * s$0 + column)", {arg}), 0});
  }
  const auto panel = g_.panel_of.find(id);
  if (panel != g_.panel_of.end()) {
    const int arg = args_.tensor(BufferArg{panel->second.buffer}, "float", true);
    sinks.push_back(panel_sink(panel->second, "p" + std::to_string(arg), "column"));
  }
  return sinks;
}

std::int64_t EpilogueSlice::width(TensorId id) const {
  if (plan_stage_.halves && id != linear_out_) {
    return shape_.panel;
  }
  return shape_.width;
}

std::string EpilogueSlice::bound(TensorId id) const {
  return shape_.partial() ? "valid" : std::to_string(width(id));
}

std::string EpilogueSlice::angles(const Node& rope) {
  const int table = frequency_table(g_, rope);
  const std::int64_t stride = 2 * angle_half(g_, rope);
  const auto buffer = g_.angle_buffer.find(table);
  if (buffer == g_.angle_buffer.end()) {
    return filled("(angles$0 + m * $1)", {table, stride});
  }
  const int arg = args_.tensor(BufferArg{buffer->second}, "float", false);
  return filled("(p$0 + m * $1)", {arg, stride});
}

}  // namespace fusefarm::codegen
