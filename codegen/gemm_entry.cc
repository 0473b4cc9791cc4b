#include <algorithm>

#include "base/check.h"
#include "codegen/epilogue_slice.h"
#include "codegen/gemm_emitter.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

namespace {

const Stage& stage_of(const Generator& generator, const GemmShape& shape) {
  return generator.plan.stages[static_cast<std::size_t>(shape.stage)];
}

int prepared_buffer(Generator& generator, const GemmShape& shape, TensorId weight) {
  BufferSpec spec;
  spec.kind = BufferKind::kPrepared;
  spec.weight = generator.input_index(weight);
  spec.layout = shape.layout;
  for (std::size_t i = 0; i < generator.launch.buffers.size(); ++i) {
    if (generator.launch.buffers[i] == spec) {
      return static_cast<int>(i);
    }
  }
  generator.launch.buffers.push_back(spec);
  return static_cast<int>(generator.launch.buffers.size()) - 1;
}

void emit_bias(Generator& generator, EntryArgs& args, const GemmShape& shape) {
  const Node& linear = generator.region.node(stage_of(generator, shape).linear);
  if (linear.inputs.size() < 3) {
    return;
  }
  const Place place = generator.read_place(linear.inputs[2]);
  const int bias = args.tensor(place.arg, source_type(place.dtype), false);
  const bool halves = stage_of(generator, shape).halves;
  const std::string bound =
      shape.partial() ? "valid" : std::to_string(halves ? shape.panel : shape.width);
  generator.text.line("for (long c = 0; c < $0; c += 8) {", {bound});
  generator.text.line("float* at = y + (m - m0) * $0 + c;", {shape.width});
  generator.text.line("ff_store(at, ff_load(at) + ff_load(p$0 + first + c));", {bias});
  if (halves) {
    generator.text.line("ff_store(at + $1, ff_load(at + $1) + ff_load(p$0 + first + $2 + c));",
                        {bias, shape.panel, shape.n / 2});
  }
  generator.text.line("}");
}

// Running maxima of one row, eight lanes, over the units of the block.
void emit_argmax_update(Generator& generator, EpilogueSlice& slice, const Node& node) {
  SourceText& text = generator.text;
  text.line("i8x at = {0, 1, 2, 3, 4, 5, 6, 7};");
  text.line("at = at + (int)first;");
  text.line("for (long c = 0; c < $0; c += 8, at = at + 8) {", {slice.bound(node.inputs[0])});
  text.line("v8 v = ff_load($0 + c);", {slice.read(node.inputs[0])});
  text.line("i8x better = v > best[m];");
  text.line("best[m] = better ? v : best[m];");
  text.line("best_at[m] = better ? at : best_at[m];");
  text.line("}");
}

void emit_epilogue(Generator& generator, EntryArgs& args, const GemmShape& shape, TensorId branch) {
  const Stage& stage = stage_of(generator, shape);
  SourceText& text = generator.text;
  EpilogueSlice slice(generator, args, shape, branch);
  OpEmitter emitter(generator, slice);
  text.line("for (long m = m0; m < m1; ++m) {");
  emit_bias(generator, args, shape);
  emitter.emit_copy(branch == graph::kNone ? generator.region.node(stage.linear).outputs[0]
                                           : branch);
  for (const graph::NodeId id : stage.nodes) {
    const Node& node = generator.region.node(id);
    if (node.op == OpKind::kArgmax) {
      emit_argmax_update(generator, slice, node);
    } else if (node.op != OpKind::kSplit && slice.concerns(node)) {
      emitter.emit(node);
    }
  }
  text.line("}");
}

// One branch of code per tensor of heads: which one a unit belongs to depends on its index.
void emit_head_epilogues(Generator& generator, EntryArgs& args, const GemmShape& shape) {
  const Stage& stage = stage_of(generator, shape);
  SourceText& text = generator.text;
  for (const graph::NodeId id : stage.nodes) {
    const Node& node = generator.region.node(id);
    if (node.op != OpKind::kSplit) {
      continue;
    }
    std::int64_t begin = 0;
    for (const TensorId part : node.outputs) {
      const std::int64_t heads = generator.columns(part) / stage.head_dim;
      text.line("if (unit >= $0 && unit < $1) {", {begin, begin + heads});
      text.line("long column = (unit - $0) * $1;", {begin, stage.head_dim});
      emit_epilogue(generator, args, shape, part);
      text.line("}");
      begin += heads;
    }
  }
}

void emit_argmax_start(Generator& generator, const GemmShape& shape) {
  generator.text.line("alignas(32) v8 best[$0];", {shape.rows});
  generator.text.line("alignas(32) i8x best_at[$0];", {shape.rows});
  generator.text.line("for (long m = 0; m < $0; ++m) {", {shape.rows});
  generator.text.line("best[m] = ff_splat(-__builtin_inff());");
  generator.text.line("best_at[m] = i8x{} + 0x7fffffff;");
  generator.text.line("}");
}

void emit_argmax_end(Generator& generator, EntryArgs& args, const GemmShape& shape) {
  SourceText& text = generator.text;
  const int values =
      generator.scratch(graph::DType::kF32, graph::fixed(shape.blocks()), shape.rows);
  const int indices =
      generator.scratch(graph::DType::kI32, graph::fixed(shape.blocks()), shape.rows);
  const int v = args.tensor(BufferArg{values}, "float", true);
  const int i = args.tensor(BufferArg{indices}, "int", true);
  text.line("for (long m = 0; m < $0; ++m) {", {shape.rows});
  text.line("float value = best[m][0]; int index = best_at[m][0];");
  text.line("for (int l = 1; l < 8; ++l) {");
  text.line("float u = best[m][l]; int j = best_at[m][l];");
  text.line("bool better = u > value || (u == value && j < index);");
  text.line("value = better ? u : value; index = better ? j : index;");
  text.line("}");
  text.line("p$0[block * s$0 + m] = value; p$1[block * s$1 + m] = index;", {v, i});
  text.line("}");
}

// Rows of x local to the block: the prologue runs in every block.
void emit_local_prologue(Generator& generator, EntryArgs& args, const InputPanel& x,
                         const RowWork& prologue) {
  SourceText& text = generator.text;
  text.line("alignas(64) float x[$0];", {x.floats()});
  for (const Node* rope : prologue.angles) {
    text.line(
        "alignas(32) float angles$0[$1];",
        {frequency_table(generator, *rope), prologue.rows * 2 * angle_half(generator, *rope)});
  }
  text.line("for (long m = 0; m < $0; ++m) {", {prologue.rows});
  emit_row(generator, args, prologue);
  text.line("}");
}

void emit_unit(Generator& generator, EntryArgs& args, const GemmShape& shape, const InputPanel& x,
               const std::string& weight, const std::string& input) {
  const Stage& stage = stage_of(generator, shape);
  SourceText& text = generator.text;
  const std::int64_t step = stage.halves ? shape.panel : shape.width;
  text.line("long first = unit * $0;", {step});
  if (shape.partial()) {
    const std::int64_t columns = stage.halves ? shape.n / 2 : shape.n;
    text.line("long valid = $0 - first < $1 ? $0 - first : $1;", {columns, step});
  }
  text.line("for (long m0 = 0; m0 < $0; m0 += $1) {", {shape.rows, shape.row_block});
  text.line("long m1 = m0 + $1 < $0 ? m0 + $1 : $0;", {shape.rows, shape.row_block});
  text.line("alignas(64) float y[$0];", {shape.row_block * shape.width});
  emit_products(generator, shape, x, weight, input);
  if (stage.head_dim > 0) {
    emit_head_epilogues(generator, args, shape);
  } else {
    text.line("long column = first; (void)column;");
    emit_epilogue(generator, args, shape, graph::kNone);
  }
  text.line("}");
}

}  // namespace

void emit_gemm_entry(Generator& generator, const GemmShape& shape, const RowWork& prologue) {
  const Stage& stage = stage_of(generator, shape);
  const Node& linear = generator.region.node(stage.linear);
  const InputPanel& x = generator.panel_of.at(linear.inputs[0]);
  EntryArgs args;
  const int weight = args.tensor(BufferArg{prepared_buffer(generator, shape, linear.inputs[1])},
                                 source_type(shape.weight_dtype), false);
  std::string input = "x";
  if (x.buffer >= 0) {
    input = "p" + std::to_string(args.tensor(BufferArg{x.buffer}, "float", false));
  }
  SourceText outer = std::move(generator.text);
  generator.text = SourceText();
  SourceText& text = generator.text;
  text.line("{");
  if (x.buffer < 0) {
    emit_local_prologue(generator, args, x, prologue);
  }
  if (stage.argmax) {
    emit_argmax_start(generator, shape);
  }
  text.line("long last = (block + 1) * $0 < $1 ? (block + 1) * $0 : $1;",
            {shape.units_per_block, shape.units});
  text.line("for (long unit = block * $0; unit < last; ++unit) {", {shape.units_per_block});
  emit_unit(generator, args, shape, x, "p" + std::to_string(weight), input);
  text.line("}");
  if (stage.argmax) {
    emit_argmax_end(generator, args, shape);
  }
  const std::string body = text.text().substr(2);
  generator.text = std::move(outer);
  generator.text.line("extern \"C\" void gemm$0(const FfArgs* a, long block) {", {shape.stage});
  args.declare(generator.text);
  generator.text.raw(body);
  generator.text.line("}");
  generator.text.blank();
  KernelStep step;
  step.entry = "gemm" + std::to_string(shape.stage);
  step.grid = {graph::fixed(shape.blocks()), 1};
  step.args = args.args();
  generator.launch.steps.emplace_back(std::move(step));
}

void emit_argmax_entry(Generator& generator, const GemmShape& shape) {
  const Stage& stage = stage_of(generator, shape);
  const auto argmax = std::ranges::find_if(stage.nodes, [&](graph::NodeId id) {
    return generator.region.node(id).op == OpKind::kArgmax;
  });
  FUSEFARM_CHECK(argmax != stage.nodes.end(), "stage without argmax");
  const int output = generator.output_index(generator.region.node(*argmax).outputs[0]);
  const int last = static_cast<int>(generator.launch.buffers.size()) - 1;  // values, indices
  SourceText& text = generator.text;
  text.line("extern \"C\" void argmax$0(const FfArgs* a, long block) {", {shape.stage});
  EntryArgs args;
  const int v = args.tensor(BufferArg{last - 1}, "float", false);
  const int i = args.tensor(BufferArg{last}, "int", false);
  const int y = args.tensor(OutputArg{output}, "int", true);
  args.declare(text);
  text.line("(void)block;");
  text.line("for (long m = 0; m < $0; ++m) {", {shape.rows});
  text.line("float value = p$0[m]; int index = p$1[m];", {v, i});
  text.line("for (long b = 1; b < $0; ++b) {", {shape.blocks()});
  text.line("bool better = p$0[b * s$0 + m] > value;", {v});
  text.line("value = better ? p$0[b * s$0 + m] : value;", {v});
  text.line("index = better ? p$0[b * s$0 + m] : index;", {i});
  text.line("}");
  text.line("p$0[m * s$0] = index == 0x7fffffff ? 0 : index;", {y});
  text.line("}");
  text.line("}");
  text.blank();
  KernelStep step;
  step.entry = "argmax" + std::to_string(shape.stage);
  step.grid = {graph::fixed(1), 1};
  step.args = args.args();
  generator.launch.steps.emplace_back(std::move(step));
}

}  // namespace fusefarm::codegen
