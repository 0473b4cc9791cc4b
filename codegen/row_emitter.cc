#include "codegen/row_emitter.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/kernels/rope_table.h"
#include "codegen/region_shape.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

Sink panel_sink(const InputPanel& panel, const std::string& base, const std::string& column) {
  if (!panel.tiles) {
    return {filled("$0 + m * $1 + $2", {base, panel.row_stride(), column}), 0};
  }
  return {filled("$0 + (m / $1) * $2 + m % $1 + ($3) * $1",
                 {base, panel.tile_rows, panel.tile_rows * panel.columns, column}),
          panel.tile_rows};
}

int frequency_table(Generator& generator, const Node& rope) {
  const std::int64_t dim = generator.region.tensor(rope.inputs[0]).shape.back().factor;
  const std::vector<double> values = rope_frequencies(rope.attrs, dim);
  const auto next = static_cast<int>(generator.frequencies.size());
  return generator.frequencies.try_emplace(values, next).first->second;
}

std::int64_t angle_half(const Generator& generator, const Node& rope) {
  return rope_rotary_dim(rope.attrs, generator.region.tensor(rope.inputs[0]).shape.back().factor) /
         2;
}

bool elementwise_stage(const graph::Graph& region, const Stage& stage) {
  return std::ranges::all_of(stage.nodes, [&](graph::NodeId id) {
    const OpKind op = region.node(id).op;
    return op == OpKind::kAdd || op == OpKind::kCast || op == OpKind::kSiluMul;
  });
}

std::string RowSlice::read(TensorId id) {
  const TensorId whole_id = g_.base(id);
  if (local_.contains(whole_id)) {
    return filled("(t$0 + $1)", {whole_id, g_.base_column(id)});
  }
  const Place place = g_.read_place(id);
  const int arg = args_.tensor(place.arg, source_type(place.dtype), false);
  std::string row_index = "m";
  const Node* gather = nullptr;
  for (const graph::NodeId consumer : g_.region.consumers(id)) {
    const Node& node = g_.region.node(consumer);
    gather = node.op == OpKind::kSelectRows && g_.stage_of(node.outputs[0]) == work_.stage ? &node
                                                                                           : gather;
  }
  if (gather != nullptr) {  // the last token of each sequence
    row_index = filled("((m + 1) * $0 / $1 - 1)", {g_.rows(id), g_.rows(gather->outputs[0])});
  }
  return filled("(p$0 + $1 * s$0 + $2$3)",
                {arg, row_index, place.column, work_.parts > 1 ? " + column" : ""});
}

std::string RowSlice::whole(TensorId id) {
  const Place place = g_.read_place(id);
  return "p" + std::to_string(args_.tensor(place.arg, source_type(place.dtype), false));
}

std::string RowSlice::written(const Place& place, std::int64_t columns) {
  const char* type = source_type(place.dtype);
  const int arg = args_.tensor(place.arg, type, true);
  const std::string pointer =
      filled("p$0 + m * s$0 + $1$2", {arg, place.column, work_.parts > 1 ? " + column" : ""});
  if (!work_.in_block) {
    return "(" + pointer + ")";
  }
  // Every block computes the row for itself; one of them writes it for the others.
  const std::string trash = "trash" + std::to_string(arg);
  g_.text.line("alignas(32) $0 $1[$2];", {type, trash, columns});
  return filled("(block == 0 ? $0 : $1)", {pointer, trash});
}

std::vector<Sink> RowSlice::sinks(TensorId id) {
  std::vector<Sink> sinks;
  const Node& producer = *g_.region.producer(id);
  if (producer.op == OpKind::kKvWrite) {
    const int index =
        args_.tensor(OutputArg{g_.output_index(id)}, source_type(g_.region.tensor(id).dtype), true);
    return {{filled("(p$0 + slot * s$0)", {index}), 0}};
  }
  if (g_.used_inside(id, work_.stage)) {
    g_.text.line("alignas(32) float t$0[$1];", {id, width(id)});
    local_.insert(id);
    sinks.push_back({"t" + std::to_string(id), 0});
  }
  for (const auto& [tensor, place] : g_.write_places(id)) {
    if (tensor != id) {
      FUSEFARM_CHECK(false, "views of row values are not region outputs");
    }
    sinks.push_back({written(place, width(id)), 0});
  }
  const auto panel = g_.panel_of.find(id);
  if (panel != g_.panel_of.end()) {
    std::string base = "x";
    if (panel->second.buffer >= 0) {
      base = "p" + std::to_string(args_.tensor(BufferArg{panel->second.buffer}, "float", true));
    }
    sinks.push_back(panel_sink(panel->second, base, work_.parts > 1 ? "column" : "0"));
  }
  return sinks;
}

std::int64_t RowSlice::width(TensorId id) const { return g_.columns(id) / work_.parts; }

std::string RowSlice::bound(TensorId id) const { return std::to_string(width(id)); }

std::int64_t RowSlice::half_offset(TensorId id) const { return g_.columns(id) / 2; }

std::string RowSlice::angles(const Node& rope) {
  const int table = frequency_table(g_, rope);
  if (angles_.insert(table).second) {
    const std::int64_t half = angle_half(g_, rope);
    g_.text.line("alignas(32) float angle$0[$1];", {table, 2 * half});
    g_.text.line("ff_angles($0[m], ff_frequency$1, $2, angle$1);",
                 {whole(rope.inputs[1]), table, half});
  }
  return "angle" + std::to_string(table);
}

namespace {

void emit_pack(Generator& generator, EntryArgs& args, TensorId id, bool in_block) {
  const Place place = generator.read_place(id);
  const int from = args.tensor(place.arg, source_type(place.dtype), false);
  const InputPanel& panel = generator.panel_of.at(id);
  std::string base = "x";
  if (!in_block) {
    base = "p" + std::to_string(args.tensor(BufferArg{panel.buffer}, "float", true));
  }
  const Sink sink = panel_sink(panel, base, "0");
  generator.text.line("#pragma GCC unroll 4");
  generator.text.line("for (long c = 0; c < $0; c += 8) {", {panel.columns});
  generator.text.line("v8 v = ff_load(p$0 + m * s$0 + $1 + c);", {from, place.column});
  if (sink.scatter > 1) {
    generator.text.line("ff_scatter<$0>($1 + c * $0, v);", {sink.scatter, sink.pointer});
  } else {
    generator.text.line("ff_store($0 + c, v);", {sink.pointer});
  }
  generator.text.line("}");
}

void emit_prefetch(Generator& generator, EntryArgs& args, const RowWork& work) {
  const std::int64_t ahead = generator.at("row_prefetch");
  if (ahead == 0 || work.in_block || work.stage < 0) {
    return;
  }
  const Stage& stage = generator.plan.stages[static_cast<std::size_t>(work.stage)];
  std::set<TensorId> seen;
  for (const graph::NodeId id : stage.nodes) {
    for (const TensorId input : generator.region.node(id).inputs) {
      const graph::Tensor& tensor = generator.region.tensor(input);
      if (tensor.kind != graph::TensorKind::kActivation || generator.stage_of(input) >= 0 ||
          generator.rows(input) != work.rows || !seen.insert(input).second) {
        continue;
      }
      const Place place = generator.read_place(input);
      const int arg = args.tensor(place.arg, source_type(place.dtype), false);
      generator.text.line("for (long c = 0; c < $0; c += $1)",
                          {generator.columns(input), 64 / graph::bytes_of(place.dtype)});
      generator.text.line("  __builtin_prefetch(p$0 + (m + $1) * s$0 + $2 + c);",
                          {arg, ahead, place.column});
    }
  }
}

}  // namespace

void emit_row(Generator& generator, EntryArgs& args, const RowWork& work) {
  emit_prefetch(generator, args, work);
  RowSlice slice(generator, args, work);
  OpEmitter emitter(generator, slice);
  if (work.stage >= 0) {
    const Stage& stage = generator.plan.stages[static_cast<std::size_t>(work.stage)];
    for (const graph::NodeId id : stage.nodes) {
      emitter.emit(generator.region.node(id));
    }
  }
  for (const TensorId id : work.packs) {
    emit_pack(generator, args, id, work.in_block);
  }
  for (const Node* rope : work.angles) {
    const int table = frequency_table(generator, *rope);
    const std::int64_t half = angle_half(generator, *rope);
    const std::string positions = slice.whole(rope->inputs[1]);
    std::string target = "angles" + std::to_string(table);
    if (!work.in_block) {
      target = "p" + std::to_string(
                         args.tensor(BufferArg{generator.angle_buffer.at(table)}, "float", true));
    }
    generator.text.line("ff_angles($0[m], ff_frequency$1, $2, $3 + m * $4);",
                        {positions, table, half, target, 2 * half});
  }
}

void emit_row_entry(Generator& generator, const RowWork& work, int number) {
  EntryArgs args;
  const std::int64_t block =
      std::min(generator.at("row_block", 1), std::max<std::int64_t>(1, work.rows));
  // The arguments are known only after the body: it is written aside first.
  SourceText outer = std::move(generator.text);
  generator.text = SourceText();
  generator.text.line("{");  // as deep as it will be
  emit_row(generator, args, work);
  const std::string body = generator.text.text().substr(2);
  generator.text = std::move(outer);
  SourceText& text = generator.text;
  const std::int64_t row_blocks = (work.rows + block - 1) / block;
  text.line("extern \"C\" void rows$0(const FfArgs* a, long block) {", {number});
  args.declare(text);
  if (work.parts > 1) {
    const std::int64_t columns = generator.columns(
        generator.region
            .node(generator.plan.stages[static_cast<std::size_t>(work.stage)].nodes.back())
            .outputs[0]);
    text.line("long column = block / $0 * $1;", {row_blocks, columns / work.parts});
    text.line("block %= $0;", {row_blocks});
  }
  text.line("long last = (block + 1) * $0 < $1 ? (block + 1) * $0 : $1;", {block, work.rows});
  text.line("for (long m = block * $0; m < last; ++m) {", {block});
  text.raw(body);
  text.line("}");
  text.line("}");
  text.blank();
  KernelStep step;
  step.entry = "rows" + std::to_string(number);
  step.grid = {graph::fixed(row_blocks * work.parts), 1};
  step.args = args.args();
  generator.launch.steps.emplace_back(std::move(step));
}

}  // namespace fusefarm::codegen
