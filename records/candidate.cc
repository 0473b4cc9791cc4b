#include "records/candidate.h"

#include <variant>

namespace fusefarm {
namespace {

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void add_dim(DigestBuilder& builder, graph::Dim dim) {
  builder.add(static_cast<std::uint64_t>(dim.symbol)).add(word(dim.factor));
}

void add_layout(DigestBuilder& builder, const PreparedLayout& layout) {
  builder.add(word(layout.panel))
      .add(static_cast<std::uint64_t>(layout.order))
      .add(static_cast<std::uint64_t>(layout.dtype))
      .add(static_cast<std::uint64_t>(layout.pair_interleave));
}

void add_buffer(DigestBuilder& builder, const BufferSpec& buffer) {
  // Only what its kind uses, as in the JSON form.
  builder.add(static_cast<std::uint64_t>(buffer.kind));
  if (buffer.kind == BufferKind::kPrepared) {
    builder.add(word(buffer.weight));
    add_layout(builder, buffer.layout);
  } else {
    builder.add(static_cast<std::uint64_t>(buffer.dtype));
    add_dim(builder, buffer.rows);
    builder.add(word(buffer.columns));
  }
}

// The variant's index is part of the address, so the alternatives may only be appended to.
struct AddArg {
  DigestBuilder& builder;

  void operator()(const InputArg& arg) const { builder.add(word(arg.index)); }

  void operator()(const OutputArg& arg) const { builder.add(word(arg.index)); }

  void operator()(const BufferArg& arg) const { builder.add(word(arg.index)); }

  void operator()(const DimArg& arg) const { add_dim(builder, arg.dim); }

  void operator()(const ConstantArg& arg) const { builder.add(word(arg.value)); }
};

struct AddStep {
  DigestBuilder& builder;

  void operator()(const KernelStep& step) const {
    builder.add(step.entry);
    add_dim(builder, step.grid.dim);
    builder.add(word(step.grid.divisor)).add(std::uint64_t{step.args.size()});
    for (const LaunchArg& arg : step.args) {
      builder.add(std::uint64_t{arg.index()});
      std::visit(AddArg{builder}, arg);
    }
  }

  void operator()(const LibraryStep& step) const { builder.add(word(step.node)); }
};

void add_plan(DigestBuilder& builder, const LaunchPlan& plan) {
  builder.add(word(plan.version)).add(std::uint64_t{plan.buffers.size()});
  for (const BufferSpec& buffer : plan.buffers) {
    add_buffer(builder, buffer);
  }
  builder.add(std::uint64_t{plan.steps.size()});
  for (const PlanStep& step : plan.steps) {
    builder.add(std::uint64_t{step.index()});
    std::visit(AddStep{builder}, step);
  }
}

}  // namespace

Digest Candidate::digest() const {
  DigestBuilder builder;
  builder.add("fusefarm candidate 1").add(static_cast<std::uint64_t>(kind)).add(region).add(source);
  builder.add(std::uint64_t{flags.size()});
  for (const std::string& flag : flags) {
    builder.add(flag);
  }
  add_plan(builder, plan);
  return builder.finish();
}

}  // namespace fusefarm
