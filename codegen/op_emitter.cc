#include "codegen/op_emitter.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/kernels/rope_table.h"
#include "codegen/region_shape.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

namespace {

std::string hex_float(double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%a", value);
  return buffer;
}

}  // namespace

void OpEmitter::emit(const Node& node) {
  switch (node.op) {
    case OpKind::kAdd:
      return emit_loop(node.outputs[0], "ff_load(" + slice_.read(node.inputs[0]) +
                                            " + c) + ff_load(" + slice_.read(node.inputs[1]) +
                                            " + c)");
    case OpKind::kCast:
    case OpKind::kSelectRows:
      return emit_loop(node.outputs[0], "ff_load(" + slice_.read(node.inputs[0]) + " + c)");
    case OpKind::kRmsNorm:
      return emit_rms_norm(node);
    case OpKind::kRope:
      return emit_rope(node);
    case OpKind::kKvWrite:
      return emit_kv_write(node);
    case OpKind::kSiluMul:
      return emit_silu_mul(node);
    case OpKind::kEmbedding:
      return emit_gather(node);
    case OpKind::kMoeFinalize:
      return emit_moe_finalize(node);
    case OpKind::kRouterSelect:
      return emit_router_select(g_, slice_, node);
    case OpKind::kSplit:
      return;  // a view
    default:
      FUSEFARM_CHECK(false, std::string("no emitter for ") + graph::to_string(node.op));
  }
}

void OpEmitter::emit_stores(const std::vector<Sink>& sinks, const std::string& value,
                            const std::string& column) {
  for (const Sink& sink : sinks) {
    if (sink.scatter > 1) {
      g_.text.line("ff_scatter<$0>($1 + ($2) * $0, $3);",
                   {sink.scatter, sink.pointer, column, value});
    } else {
      g_.text.line("ff_store($0 + $1, $2);", {sink.pointer, column, value});
    }
  }
}

// Whether the norm that reads this tensor should find its sum of squares ready.
bool OpEmitter::wants_sums(TensorId id) const {
  if (g_.at("row_fuse") == 0) {
    return false;
  }
  for (const graph::NodeId consumer : g_.region.consumers(id)) {
    const Node& node = g_.region.node(consumer);
    if (node.op == OpKind::kRmsNorm && node.inputs[0] == id && g_.used_inside(id, slice_.stage()) &&
        g_.columns(id) == g_.columns(node.inputs[1]) * g_.rows(node.inputs[1])) {
      return true;
    }
  }
  return false;
}

// out[c] = expression, where "c" counts the slice's columns. `column`: where in the slice the loop
// starts (groups).
void OpEmitter::emit_loop(TensorId out, const std::string& expression, std::int64_t column) {
  const std::vector<Sink> sinks = slice_.sinks(out);
  const bool sums = column == 0 && wants_sums(out);
  const std::int64_t lanes = 8;
  std::int64_t ways = g_.at("row_sums", 1);
  if (!sums || slice_.width(out) % (lanes * ways) != 0) {
    ways = 1;
  }
  const std::string name = "q" + std::to_string(out);
  for (std::int64_t i = 0; sums && i < ways; ++i) {
    g_.text.line("v8 $0_$1 = ff_splat(0.0f);", {name, i});
  }
  g_.text.line("#pragma GCC unroll $0", {g_.at("row_unroll", 2)});
  g_.text.line("for (long c0 = 0; c0 < $0; c0 += $1) {", {slice_.bound(out), lanes * ways});
  for (std::int64_t i = 0; i < ways; ++i) {
    g_.text.line("{");
    g_.text.line("long c = c0 + $0;", {lanes * i});
    g_.text.line("v8 v = $0;", {expression});
    if (sums) {
      g_.text.line("$0_$1 = v * v + $0_$1;", {name, i});
    }
    emit_stores(sinks, "v", "c");
    g_.text.line("}");
  }
  g_.text.line("}");
  if (sums) {
    std::string total = name + "_0";
    for (std::int64_t i = 1; i < ways; ++i) {
      total += " + " + name + "_" + std::to_string(i);
    }
    sums_[out] = "ff_sum(" + total + ")";
  }
}

void OpEmitter::emit_rms_norm(const Node& node) {
  const TensorId x = node.inputs[0];
  const TensorId y = node.outputs[0];
  const std::int64_t group = g_.region.tensor(node.inputs[1]).shape.front().factor;
  const std::int64_t groups = slice_.width(y) / group;
  const std::string in = slice_.read(x);
  const std::string weight = slice_.whole(node.inputs[1]);
  const std::vector<Sink> sinks = slice_.sinks(y);
  std::int64_t ways = g_.at("row_sums", 2);
  while (group % (8 * ways) != 0) {
    ways /= 2;
  }
  g_.text.line("for (long g = 0; g < $0; ++g) {", {groups});
  g_.text.line("long b = g * $0;", {group});
  if (sums_.contains(x)) {
    g_.text.line("float ss = $0;", {sums_[x]});
  } else {
    std::string total = "q0";
    for (std::int64_t i = 0; i < ways; ++i) {
      g_.text.line("v8 q$0 = ff_splat(0.0f);", {i});
      total += i == 0 ? "" : " + q" + std::to_string(i);
    }
    g_.text.line("#pragma GCC unroll $0", {g_.at("row_unroll", 2)});
    g_.text.line("for (long c = b; c < b + $0; c += $1) {", {group, 8 * ways});
    for (std::int64_t i = 0; i < ways; ++i) {
      g_.text.line("{ v8 v = ff_load($0 + c + $1); q$2 = v * v + q$2; }", {in, 8 * i, i});
    }
    g_.text.line("}");
    g_.text.line("float ss = ff_sum($0);", {total});
  }
  g_.text.line("v8 scale = ff_splat(1.0f / __builtin_sqrtf(ss * $0f + $1f));",
               {hex_float(1.0 / static_cast<double>(group)), hex_float(node.attrs.real("eps", 0))});
  g_.text.line("#pragma GCC unroll $0", {g_.at("row_unroll", 2)});
  g_.text.line("for (long c = 0; c < $0; c += 8) {", {group});
  g_.text.line("v8 v = ff_load($0 + b + c) * scale * ff_load($1 + c);", {in, weight});
  emit_stores(sinks, "v", "b + c");
  g_.text.line("}");
  g_.text.line("}");
}

void OpEmitter::emit_rope(const Node& node) {
  const TensorId y = node.outputs[0];
  const std::int64_t dim = g_.region.tensor(y).shape.back().factor;
  const std::int64_t half = rope_rotary_dim(node.attrs, dim) / 2;
  const std::string in = slice_.read(node.inputs[0]);
  const std::string angles = slice_.angles(node);
  const std::vector<Sink> sinks = slice_.sinks(y);
  g_.text.line("for (long g = 0; g < $0; ++g) {", {slice_.width(y) / dim});
  g_.text.line("long b = g * $0;", {dim});
  g_.text.line("#pragma GCC unroll $0", {g_.at("row_unroll", 2)});
  g_.text.line("for (long c = 0; c < $0; c += 8) {", {half});
  g_.text.line("v8 x = ff_load($0 + b + c), z = ff_load($0 + b + c + $1);", {in, half});
  g_.text.line("v8 cosine = ff_load($0 + c), sine = ff_load($0 + c + $1);", {angles, half});
  g_.text.line("v8 v = x * cosine - z * sine, w = z * cosine + x * sine;");
  emit_stores(sinks, "v", "b + c");
  emit_stores(sinks, "w", "b + c + " + std::to_string(half));
  g_.text.line("}");
  if (2 * half < dim) {
    g_.text.line("for (long c = $0; c < $1; c += 8) {", {2 * half, dim});
    g_.text.line("v8 v = ff_load($0 + b + c);", {in});
    emit_stores(sinks, "v", "b + c");
    g_.text.line("}");
  }
  g_.text.line("}");
}

void OpEmitter::emit_copy(TensorId id) {
  const std::vector<Sink> sinks = slice_.sinks(id);
  if (sinks.empty()) {
    return;
  }
  g_.text.line("for (long c = 0; c < $0; c += 8) {", {slice_.bound(id)});
  g_.text.line("v8 v = ff_load($0 + c);", {slice_.read(id)});
  emit_stores(sinks, "v", "c");
  g_.text.line("}");
}

// Inputs k, v, slots and the two caches. A slice may hold only one of k and v: the other branch of
// the epilogue writes it.
void OpEmitter::emit_kv_write(const Node& node) {
  const std::int64_t slots = g_.rows(node.inputs[3]);
  g_.text.line("long slot = $0[$1];", {slice_.whole(node.inputs[2]), slice_.row()});
  g_.text.line("if (slot >= 0 && slot < $0) {", {slots});
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string from = slice_.read(node.inputs[i]);
    if (from.empty()) {
      continue;
    }
    const std::vector<Sink> cache = slice_.sinks(node.outputs[i]);
    g_.text.line("for (long c = 0; c < $0; c += 8) {", {slice_.bound(node.inputs[i])});
    g_.text.line("v8 v = ff_load($0 + c);", {from});
    emit_stores(cache, "v", "c");
    g_.text.line("}");
  }
  g_.text.line("}");
}

void OpEmitter::emit_silu_mul(const Node& node) {
  const TensorId y = node.outputs[0];
  const std::string gate = slice_.read(node.inputs[0]);
  const std::int64_t up = slice_.half_offset(node.inputs[0]);
  emit_loop(y, "ff_silu(ff_load(" + gate + " + c)) * ff_load(" + gate + " + c + " +
                   std::to_string(up) + ")");
}

void OpEmitter::emit_gather(const Node& node) {
  const TensorId table = node.inputs[1];
  g_.text.line("long id = (long)$0[$1] - $2;",
               {slice_.whole(node.inputs[0]), slice_.row(), node.attrs.integer("vocab_begin")});
  g_.text.line("bool held = id >= 0 && id < $0;", {g_.rows(table)});
  const std::string from =
      slice_.whole(table) + " + (held ? id : 0) * " + std::to_string(g_.columns(table));
  emit_loop(node.outputs[0], "held ? ff_load(" + from + " + c) : ff_splat(0.0f)");
}

void OpEmitter::emit_moe_finalize(const Node& node) {
  const std::int64_t k = g_.columns(node.inputs[1]);
  const std::string weights = slice_.read(node.inputs[1]);
  const std::string y = slice_.whole(node.inputs[0]);
  const std::string stride = "s" + y.substr(1);
  std::string expression;
  for (std::int64_t i = 0; i < k; ++i) {
    expression += filled("$0ff_load($1 + ($2 * $3 + $4) * $5 + c) * $6[$4]",
                         {i == 0 ? "" : " + ", y, slice_.row(), k, i, stride, weights});
  }
  emit_loop(node.outputs[0], expression);
}

}  // namespace fusefarm::codegen
