// Top-k routing of one token, as a function of constants known at generation.
#include "codegen/op_emitter.h"

namespace fusefarm::codegen {

std::string_view router_source() {
  static constexpr std::string_view kText =
      R"(// Vectors of biased scores and their indices; the best of all, the lower index on a tie.
template <long E, long W> FF_INLINE long ff_best(const float* score) {
  v8 best[W];
  i8x best_at[W], at = {0, 1, 2, 3, 4, 5, 6, 7};
#pragma GCC unroll 4
  for (long w = 0; w < W; ++w) {
    best[w] = ff_load(score + 8 * w);
    best_at[w] = at + (int)(8 * w);
  }
  for (long e = 8 * W; e < E; e += 8 * W) {
#pragma GCC unroll 4
    for (long w = 0; w < W; ++w) {
      v8 v = ff_load(score + e + 8 * w);
      i8x better = v > best[w];
      best[w] = better ? v : best[w];
      best_at[w] = better ? at + (int)(e + 8 * w) : best_at[w];
    }
  }
  float value = best[0][0];
  int index = best_at[0][0];
  for (long w = 0; w < W; ++w) {
    for (int i = 0; i < 8; ++i) {
      bool better = best[w][i] > value || (best[w][i] == value && best_at[w][i] < index);
      value = better ? best[w][i] : value;
      index = better ? best_at[w][i] : index;
    }
  }
  return index;
}
template <long E, long G, long T> FF_INLINE void ff_keep_groups(float* score) {
  float sum[G];
  for (long g = 0; g < G; ++g) {
    float first = -__builtin_inff(), second = first;
    for (long e = g * (E / G); e < (g + 1) * (E / G); ++e) {
      float v = score[e];
      second = v > first ? first : (v > second ? v : second);
      first = v > first ? v : first;
    }
    sum[g] = E / G > 1 ? first + second : first;
  }
  for (long d = 0; d < G - T; ++d) {
    long worst = 0;
    for (long g = 1; g < G; ++g) worst = sum[g] <= sum[worst] ? g : worst;
    sum[worst] = __builtin_inff();
    for (long e = worst * (E / G); e < (worst + 1) * (E / G); ++e) score[e] = -__builtin_inff();
  }
}
)";
  return kText;
}

void emit_router_select(Generator& generator, SliceContext& slice, const graph::Node& node) {
  const bool biased = node.inputs.size() > 1;
  const std::int64_t experts = generator.columns(node.inputs[0]);
  const std::int64_t k = node.attrs.integer("top_k");
  const std::int64_t groups = node.attrs.integer("groups", 1);
  const std::int64_t kept = node.attrs.integer("top_groups", groups);
  SourceText& text = generator.text;
  std::int64_t ways = generator.at("row_sums", 1);
  while (experts % (8 * ways) != 0) {
    ways /= 2;
  }
  const std::string in = slice.read(node.inputs[0]);
  const std::string ids = slice.sinks(node.outputs[0]).front().pointer;
  const std::string weights = slice.sinks(node.outputs[1]).front().pointer;
  text.line("{");
  text.line("alignas(32) float score[$0], biased[$0];", {experts});
  const std::string unroll = std::to_string(generator.at("row_unroll", 2));
  const std::string bias =
      biased ? " + ff_load(" + slice.whole(node.inputs[1]) + " + c)" : std::string();
  if (node.attrs.text("function", "softmax") == "softmax") {
    text.line("float top = $0[ff_best<$1, $2>($0)];", {in, experts, ways});
    text.line("v8 total = ff_splat(0.0f);");
    text.line("#pragma GCC unroll " + unroll);
    text.line("for (long c = 0; c < $0; c += 8) {", {experts});
    text.line("v8 v = ff_exp(ff_load($0 + c) - top);", {in});
    text.line("total = total + v;");
    text.line("ff_store(score + c, v);");
    text.line("}");
    text.line("float inverse = 1.0f / ff_sum(total);");
    text.line("for (long c = 0; c < $0; c += 8) {", {experts});
    text.line("v8 v = ff_load(score + c) * inverse;");
  } else {
    text.line("#pragma GCC unroll " + unroll);
    text.line("for (long c = 0; c < $0; c += 8) {", {experts});
    text.line("v8 v = 1.0f / (ff_exp(-ff_load($0 + c)) + 1.0f);", {in});
  }
  text.line("ff_store(score + c, v);");
  text.line("ff_store(biased + c, v$0);", {bias});
  text.line("}");
  if (groups > 1 && kept < groups) {
    text.line("ff_keep_groups<$0, $1, $2>(biased);", {experts, groups, kept});
  }
  text.line("float sum = 0.0f;");
  text.line("for (long i = 0; i < $0; ++i) {", {k});
  text.line("long e = ff_best<$0, $1>(biased);", {experts, ways});
  text.line("biased[e] = -__builtin_inff();");
  text.line("$0[i] = (int)e;", {ids});
  text.line("$0[i] = score[e];", {weights});
  text.line("sum += score[e];");
  text.line("}");
  const bool renormalise = node.attrs.integer("renormalise") != 0;
  char scale[48];
  std::snprintf(scale, sizeof scale, "%af", node.attrs.real("scale", 1.0));
  text.line("float factor = $0$1;", {scale, renormalise ? " / (sum + 1e-20f)" : ""});
  text.line("for (long i = 0; i < $0; ++i) $1[i] *= factor;", {k, weights});
  text.line("}");
}

}  // namespace fusefarm::codegen
