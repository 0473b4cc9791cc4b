#include "codegen/cpu_generator.h"

#include <algorithm>
#include <utility>

#include "codegen/gemm_emitter.h"
#include "codegen/generator.h"
#include "codegen/kernels/builtin.h"
#include "codegen/prologue.h"
#include "codegen/row_emitter.h"
#include "codegen/source_prelude.h"

namespace fusefarm::codegen {

using graph::Node;
using graph::OpKind;
using graph::TensorId;

namespace {

// The order of entries, and what each row entry does besides its own stage.
class Assembly {
 public:
  explicit Assembly(Generator& generator) : g_(generator) {}

  void run() {
    const int count = static_cast<int>(g_.plan.stages.size());
    works_.resize(static_cast<std::size_t>(count));
    absorbed_.resize(static_cast<std::size_t>(count), false);
    for (int i = 0; i < count; ++i) {
      works_[index(i)].stage = i;
      works_[index(i)].rows = rows_of(i);
    }
    for (int i = 0; i < count; ++i) {
      if (stage(i).kind == StageKind::kGemm) {
        plan_input(i);
      }
    }
    for (int i = 0; i < count; ++i) {
      emit(i);
    }
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  const Stage& stage(int i) const { return g_.plan.stages[index(i)]; }

  std::int64_t rows_of(int i) const {
    if (stage(i).kind == StageKind::kGemm) {
      return g_.rows(g_.region.node(stage(i).linear).inputs[0]);
    }
    const Node& node = g_.region.node(stage(i).nodes.front());
    const bool by_input = node.op == OpKind::kKvWrite || node.op == OpKind::kSplit;
    return g_.rows(by_input ? node.inputs[0] : node.outputs[0]);
  }

  std::vector<const Node*> ropes_of(int i) const {
    std::vector<const Node*> ropes;
    for (const graph::NodeId id : stage(i).nodes) {
      if (g_.region.node(id).op == OpKind::kRope) {
        ropes.push_back(&g_.region.node(id));
      }
    }
    return ropes;
  }

  // Decides where x of GEMM stage i is made.
  void plan_input(int i) {
    const TensorId x = g_.region.node(stage(i).linear).inputs[0];
    const Prologue prologue = prologue_of(g_.region, g_.plan, i);
    const bool inside = g_.at("prologue") == 1 && prologue.absorbable;
    std::vector<const Node*> ropes;
    for (const Node* rope : ropes_of(i)) {
      const int table = frequency_table(g_, *rope);
      const bool known = std::ranges::any_of(
          ropes, [&](const Node* other) { return frequency_table(g_, *other) == table; });
      if (!known && (inside || !g_.angle_buffer.contains(table))) {
        ropes.push_back(rope);
      }
    }
    make_panel(i, x, inside);
    RowWork& work = works_[index(i)];  // of a GEMM stage: what comes before its blocks
    work.stage = -1;
    if (inside) {
      work.in_block = true;
      work.angles = ropes;
      if (prologue.producer >= 0) {
        work.stage = prologue.producer;
        absorbed_[index(prologue.producer)] = true;
      } else {
        work.packs = {x};
      }
      return;
    }
    for (const Node* rope : ropes) {
      g_.angle_buffer[frequency_table(g_, *rope)] =
          g_.scratch(graph::DType::kF32, graph::fixed(work.rows), 2 * angle_half(g_, *rope));
    }
    RowWork& host = host_of(i);
    if (prologue.producer < 0 && !packed_.contains(x)) {
      packed_.insert(x);
      host.packs.push_back(x);
    }
    host.angles.insert(host.angles.end(), ropes.begin(), ropes.end());
  }

  // A row stage before GEMM stage i that has the same rows and is an entry of its own; otherwise
  // the work is done in an extra entry before the GEMM.
  RowWork& host_of(int i) {
    for (int r = i - 1; r >= 0; --r) {
      if (stage(r).kind == StageKind::kRows && !absorbed_[index(r)] && rows_of(r) == rows_of(i)) {
        return works_[index(r)];
      }
    }
    return works_[index(i)];
  }

  void make_panel(int i, TensorId x, bool inside) {
    if (g_.panel_of.contains(x)) {
      return;
    }
    const GemmShape shape = gemm_shape(g_, i);
    InputPanel panel;
    panel.tiles = g_.at("x_layout") == 1 && shape.tile_rows > 1;
    panel.tile_rows = shape.tile_rows;
    panel.rows = shape.rows;
    panel.columns = shape.k;
    if (!inside) {
      const std::int64_t columns =
          panel.tiles ? panel.tile_rows * panel.columns : panel.row_stride();
      panel.buffer =
          g_.scratch(graph::DType::kF32, graph::fixed(panel.floats() / columns), columns);
    }
    g_.panel_of[x] = panel;
  }

  void emit(int i) {
    RowWork& work = works_[index(i)];
    if (stage(i).kind == StageKind::kRows) {
      if (!absorbed_[index(i)]) {
        emit_rows(work, i);
      }
      return;
    }
    if (!work.in_block && (!work.packs.empty() || !work.angles.empty())) {
      emit_row_entry(g_, work, i);
    }
    const GemmShape shape = gemm_shape(g_, i);
    emit_tiles(g_, shape, g_.panel_of.at(g_.region.node(stage(i).linear).inputs[0]));
    emit_gemm_entry(g_, shape, work);
    if (stage(i).argmax) {
      emit_argmax_entry(g_, shape);
    }
  }

  void emit_rows(RowWork& work, int i) {
    const std::int64_t parts = g_.at("row_parts", 1);
    const std::int64_t columns = g_.columns(g_.region.node(stage(i).nodes.back()).outputs[0]);
    if (parts > 1 && elementwise_stage(g_.region, stage(i)) && columns % (8 * parts) == 0 &&
        work.packs.empty() && work.angles.empty()) {
      work.parts = parts;
    }
    emit_row_entry(g_, work, i);
  }

  Generator& g_;
  std::vector<RowWork> works_;
  std::vector<bool> absorbed_;
  std::set<TensorId> packed_;
};

std::string frequency_source(const Generator& generator) {
  std::string text;
  for (const auto& [values, table] : generator.frequencies) {
    text += "static const double ff_frequency" + std::to_string(table) + "[] = {";
    for (std::size_t i = 0; i < values.size(); ++i) {
      char number[48];
      std::snprintf(number, sizeof number, "%s%a", i == 0 ? "" : (i % 4 == 0 ? ",\n  " : ", "),
                    values[i]);
      text += number;
    }
    text += "};\n";
  }
  return text;
}

std::string assemble(const Generator& generator) {
  const std::string& body = generator.text.text();
  const auto uses = [&](std::string_view name) { return body.find(name) != std::string::npos; };
  std::string source(source_prelude());
  if (uses("ff_exp(") || uses("ff_silu(")) {
    source += exp_source();
  }
  if (uses("ff_best<")) {
    source += router_source();
  }
  if (uses("ff_angles(")) {
    source += angle_source();
    source += frequency_source(generator);
  }
  source += "\n" + body;
  // Written short above; candidates may define no macros.
  constexpr std::string_view kShort = "FF_INLINE";
  for (std::size_t at = source.find(kShort); at != std::string::npos;
       at = source.find(kShort, at)) {
    source.replace(at, kShort.size(), "static inline __attribute__((always_inline))");
  }
  return source;
}

}  // namespace

Candidate generate(const graph::Graph& region, const Digest& signature, const RegionPlan& plan,
                   const Schedule& schedule, int threads, const graph::Bindings& bindings) {
  Generator generator(region, plan, schedule, threads, bindings);
  Assembly(generator).run();
  Candidate candidate;
  candidate.kind = SourceKind::kCpp;
  candidate.region = signature;
  candidate.source = assemble(generator);
  candidate.flags = {"-O3"};
  if (has_vector_kernels()) {
    candidate.flags.emplace_back("-march=x86-64-v3");
  }
  candidate.plan = std::move(generator.launch);
  candidate.origin = "builtin";
  candidate.family = plan.family;
  candidate.schedule = schedule;
  return candidate;
}

Candidate noop_candidate(const graph::Graph& region, const Digest& signature) {
  Candidate candidate;
  candidate.region = signature;
  candidate.origin = "noop";
  candidate.family = "noop";
  for (const Node& node : region.nodes()) {
    candidate.plan.steps.emplace_back(LibraryStep{node.id});
  }
  return candidate;
}

}  // namespace fusefarm::codegen
