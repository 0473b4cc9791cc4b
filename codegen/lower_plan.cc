// A candidate's launch plan as program steps.
#include <utility>

#include "codegen/kernels/pack.h"
#include "codegen/lowering.h"

namespace fusefarm::codegen {
namespace {

Error invalid(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, "launch plan: " + what};
}

template <class T>
Result<T> pick(const std::vector<T>& list, int index, const char* what) {
  if (index < 0 || static_cast<std::size_t>(index) >= list.size()) {
    return invalid(std::string(what) + " " + std::to_string(index) + " of " +
                   std::to_string(list.size()));
  }
  return list[static_cast<std::size_t>(index)];
}

bool has_kernels(const LaunchPlan& plan) {
  for (const PlanStep& step : plan.steps) {
    if (std::holds_alternative<KernelStep>(step)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::int32_t Lowering::artifact(const Candidate& candidate) {
  const Digest digest = candidate.digest();
  for (std::size_t i = 0; i < result_.artifacts.size(); ++i) {
    if (result_.artifacts[i] == digest) {
      return static_cast<std::int32_t>(i);
    }
  }
  result_.artifacts.push_back(digest);
  return static_cast<std::int32_t>(result_.artifacts.size()) - 1;
}

Result<TensorRef> Lowering::plan_buffer(const BufferSpec& spec, const graph::Graph& region,
                                        const PlanArgs& args) {
  if (spec.kind == BufferKind::kZeroed) {
    return Error{ErrorCode::kUnsupported, "launch plan: zeroed buffers are reserved"};
  }
  if (spec.kind == BufferKind::kScratch) {
    ProgramBuffer buffer;
    buffer.dtype = spec.dtype;
    buffer.rows = options_.bindings.of(spec.rows);
    buffer.columns = spec.columns;
    buffer.name = "scratch";
    if (buffer.rows <= 0 || buffer.columns <= 0) {
      return invalid("a scratch buffer is empty");
    }
    return add_buffer(std::move(buffer));
  }
  const TensorRef weight = TRY(pick(args.inputs, spec.weight, "prepared weight"));
  const graph::TensorId id = region.inputs[static_cast<std::size_t>(spec.weight)];
  if (region.tensor(id).kind != graph::TensorKind::kWeight || region.tensor(id).shape.size() != 2) {
    return invalid("input " + std::to_string(spec.weight) + " is no weight matrix");
  }
  const bool paired = spec.layout.pair_interleave;
  if (spec.layout.panel < 0 || spec.layout.dtype == graph::DType::kI32 ||
      (paired && (spec.layout.panel == 0 || spec.layout.panel % 16 != 0 ||
                  spec.layout.dtype != graph::DType::kBF16)) ||
      (spec.layout.order == RowOrder::kHalves &&
       (spec.layout.panel == 0 || weight.rows % 2 != 0))) {
    return invalid("the layout of a prepared buffer contradicts itself");
  }
  return prepared(weight, spec.layout, weight.rows, weight.columns);
}

Result<void> Lowering::plan_kernel(const KernelStep& step, const PlanArgs& args,
                                   std::int32_t artifact) {
  ProgramStep lowered;
  lowered.kind = StepKind::kCandidate;
  lowered.artifact = artifact;
  lowered.entry = step.entry;
  lowered.node = node_;
  if (step.grid.divisor <= 0) {
    return invalid("entry " + step.entry + " divides its grid by " +
                   std::to_string(step.grid.divisor));
  }
  lowered.blocks = step.grid.eval(options_.bindings);
  for (const LaunchArg& arg : step.args) {
    if (const auto* input = std::get_if<InputArg>(&arg)) {
      lowered.tensors.push_back(TRY(pick(args.inputs, input->index, "input")));
    } else if (const auto* output = std::get_if<OutputArg>(&arg)) {
      lowered.tensors.push_back(TRY(pick(args.outputs, output->index, "output")));
    } else if (const auto* buffer = std::get_if<BufferArg>(&arg)) {
      lowered.tensors.push_back(TRY(pick(args.buffers, buffer->index, "buffer")));
    } else if (const auto* dim = std::get_if<DimArg>(&arg)) {
      lowered.dims.push_back(options_.bindings.of(dim->dim));
    } else {
      lowered.dims.push_back(std::get<ConstantArg>(arg).value);
    }
  }
  result_.program.steps.push_back(std::move(lowered));
  return {};
}

Result<void> Lowering::lower_plan(Scope& outer, const graph::Graph& region,
                                  const Candidate& candidate,
                                  const std::vector<graph::TensorId>& inputs,
                                  const std::vector<graph::TensorId>& outputs) {
  const LaunchPlan& plan = candidate.plan;
  if (plan.version != kLaunchPlanVersion) {
    return invalid("version " + std::to_string(plan.version) + " is unknown");
  }
  PlanArgs args;
  Scope body{&region, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    args.inputs.push_back(TRY(resolve(outer, inputs[i])));
    body.refs[region.inputs[i]] = args.inputs.back();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    args.outputs.push_back(TRY(resolve(outer, outputs[i])));
    body.refs[region.outputs[i]] = args.outputs.back();
  }
  for (const BufferSpec& spec : plan.buffers) {
    args.buffers.push_back(TRY(plan_buffer(spec, region, args)));
  }
  const std::int32_t number = has_kernels(plan) ? artifact(candidate) : -1;
  for (const PlanStep& step : plan.steps) {
    if (const auto* kernel = std::get_if<KernelStep>(&step)) {
      TRY(plan_kernel(*kernel, args, number));
      continue;
    }
    const graph::NodeId id = std::get<LibraryStep>(step).node;
    if (!region.has_node(id)) {
      return invalid("library step for node " + std::to_string(id) + ", which is not there");
    }
    TRY(lower_node(body, region.node(id)));
  }
  return {};
}

Result<Lowered> lower(const graph::Graph& graph, const LowerOptions& options) {
  Lowering lowering(graph, options);
  TRY(lowering.place_boundary());
  TRY(lowering.lower_nodes(lowering.top()));
  return lowering.finish();
}

Result<Lowered> lower_candidate(const graph::Graph& region, const Candidate& candidate,
                                const LowerOptions& options) {
  Lowering lowering(region, options);
  TRY(lowering.place_boundary());
  TRY(lowering.lower_plan(lowering.top(), region, candidate, region.inputs, region.outputs));
  return lowering.finish();
}

}  // namespace fusefarm::codegen
