#include "verify/static_check.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "verify/elf_check.h"
#include "verify/source_text.h"

namespace fusefarm::verify {
namespace {

using Problem = std::optional<Verdict>;

Problem refuse(const std::string& reason, const std::string& detail) {
  return Verdict{VerdictClass::kRejectStatic, reason, detail, 1};
}

Problem check_flags(const Candidate& candidate) {
  const std::vector<std::string>& allowed = allowed_flags();
  for (const std::string& flag : candidate.flags) {
    if (std::find(allowed.begin(), allowed.end(), flag) == allowed.end()) {
      return refuse("flags", "compiler flag '" + flag.substr(0, 80) + "' is not allowed");
    }
  }
  return {};
}

Problem check_source(const Candidate& candidate, const StaticLimits& limits) {
  if (candidate.source.size() > limits.source_bytes_max) {
    return refuse("source", fmt::format("{} bytes of source, at most {} are allowed",
                                        candidate.source.size(), limits.source_bytes_max));
  }
  std::vector<std::string> linked = required_entries(candidate);
  linked.insert(linked.end(), allowed_imports().begin(), allowed_imports().end());
  const std::string problem = forbidden_text(candidate.source, linked);
  if (!problem.empty()) {
    return refuse("source", problem);
  }
  return {};
}

Problem check_prepared(const BufferSpec& buffer, std::size_t number, const graph::Graph& region,
                       const graph::Bindings& bindings, std::int64_t& bytes) {
  const auto weight = static_cast<std::size_t>(buffer.weight);
  if (buffer.weight < 0 || weight >= region.inputs.size() ||
      region.tensor(region.inputs[weight]).kind != graph::TensorKind::kWeight) {
    return refuse("plan", fmt::format("buffer {} is prepared from input {}, which is no weight",
                                      number, buffer.weight));
  }
  const PreparedLayout& layout = buffer.layout;
  if (layout.panel < 0 || layout.panel > 4096 || layout.dtype == graph::DType::kI32) {
    return refuse("plan", fmt::format("buffer {} has no valid layout", number));
  }
  if (layout.pair_interleave && (layout.dtype != graph::DType::kBF16 || layout.panel % 16 != 0)) {
    return refuse("plan",
                  fmt::format("buffer {}: pair_interleave needs bf16 panels of 16", number));
  }
  bytes += graph::element_count(region.tensor(region.inputs[weight]), bindings) *
           graph::bytes_of(layout.dtype);
  return {};
}

Problem check_buffers(const Candidate& candidate, const graph::Graph& region,
                      const graph::Bindings& bindings, const StaticLimits& limits) {
  if (candidate.plan.buffers.size() > limits.buffers_max) {
    return refuse("plan", fmt::format("{} buffers", candidate.plan.buffers.size()));
  }
  std::int64_t scratch = 0;
  std::int64_t prepared = 0;
  for (std::size_t i = 0; i < candidate.plan.buffers.size(); ++i) {
    const BufferSpec& buffer = candidate.plan.buffers[i];
    if (buffer.kind == BufferKind::kPrepared) {
      if (Problem problem = check_prepared(buffer, i, region, bindings, prepared)) {
        return problem;
      }
      continue;
    }
    const std::int64_t width = graph::bytes_of(buffer.dtype);
    const std::int64_t rows = buffer.rows.factor > limits.scratch_bytes_max
                                  ? limits.scratch_bytes_max
                                  : bindings.of(buffer.rows);
    // Divided, not multiplied: the numbers are the candidate's and may overflow.
    if (rows < 1 || buffer.columns < 1 || buffer.columns > limits.scratch_bytes_max / width ||
        rows > (limits.scratch_bytes_max - scratch) / width / buffer.columns) {
      return refuse("plan", fmt::format("buffer {} of {} x {} elements: at most {} bytes in all", i,
                                        rows, buffer.columns, limits.scratch_bytes_max));
    }
    scratch += rows * buffer.columns * width;
  }
  if (prepared > limits.prepared_bytes_max) {
    return refuse("plan", fmt::format("{} bytes of prepared weights", prepared));
  }
  return {};
}

bool in_range(int index, std::size_t count) {
  return index >= 0 && static_cast<std::size_t>(index) < count;
}

bool argument_exists(const LaunchArg& arg, const Candidate& candidate, const graph::Graph& region) {
  if (const auto* input = std::get_if<InputArg>(&arg)) {
    return in_range(input->index, region.inputs.size());
  }
  if (const auto* output = std::get_if<OutputArg>(&arg)) {
    return in_range(output->index, region.outputs.size());
  }
  if (const auto* buffer = std::get_if<BufferArg>(&arg)) {
    return in_range(buffer->index, candidate.plan.buffers.size());
  }
  return true;
}

Problem check_step(const PlanStep& step, std::size_t number, const Candidate& candidate,
                   const graph::Graph& region, const graph::Bindings& bindings,
                   const StaticLimits& limits) {
  if (const auto* library = std::get_if<LibraryStep>(&step)) {
    if (region.has_node(library->node)) {
      return {};
    }
    return refuse("plan", fmt::format("step {} names node {}, which the region lacks", number,
                                      library->node));
  }
  const auto& kernel = std::get<KernelStep>(step);
  if (!is_identifier(kernel.entry) || kernel.entry.size() > 128) {
    return refuse("plan", fmt::format("step {}: '{}' is no C identifier", number,
                                      kernel.entry.substr(0, 80)));
  }
  const std::int64_t factor = kernel.grid.dim.factor;
  const bool sane = kernel.grid.divisor >= 1 && kernel.grid.divisor <= (std::int64_t{1} << 40) &&
                    factor >= 1 && factor <= (std::int64_t{1} << 40);
  const std::int64_t blocks = sane ? kernel.grid.eval(bindings) : 0;
  if (blocks < 1 || blocks > limits.blocks_max) {
    return refuse("plan", fmt::format("step {} has a grid of {} blocks", number, blocks));
  }
  if (kernel.args.size() > 64) {
    return refuse("plan", fmt::format("step {}: too many arguments", number));
  }
  for (const LaunchArg& arg : kernel.args) {
    if (!argument_exists(arg, candidate, region)) {
      return refuse("plan", fmt::format("step {} has an argument that does not exist", number));
    }
  }
  return {};
}

// Every boundary output must be written by some step.
Problem check_outputs(const Candidate& candidate, const graph::Graph& region) {
  std::set<graph::TensorId> written;
  for (const PlanStep& step : candidate.plan.steps) {
    if (const auto* library = std::get_if<LibraryStep>(&step)) {
      const graph::Node& node = region.node(library->node);
      written.insert(node.outputs.begin(), node.outputs.end());
      continue;
    }
    for (const LaunchArg& arg : std::get<KernelStep>(step).args) {
      if (const auto* output = std::get_if<OutputArg>(&arg)) {
        written.insert(region.outputs[static_cast<std::size_t>(output->index)]);
      }
    }
  }
  for (std::size_t i = 0; i < region.outputs.size(); ++i) {
    if (!written.contains(region.outputs[i])) {
      return refuse("plan", fmt::format("no step writes output {}", i));
    }
  }
  return {};
}

}  // namespace

const std::vector<std::string>& allowed_flags() {
  static const std::vector<std::string> kFlags{"-O2",
                                               "-O3",
                                               "-mavx2",
                                               "-mfma",
                                               "-mf16c",
                                               "-mavx512f",
                                               "-mavx512bw",
                                               "-mavx512vl",
                                               "-mavx512dq",
                                               "-mavx512bf16",
                                               "-mprefer-vector-width=256",
                                               "-mprefer-vector-width=512",
                                               "-march=x86-64-v3",
                                               "-march=x86-64-v4",
                                               "-funroll-loops",
                                               "-fno-math-errno",
                                               "-fno-trapping-math",
                                               "-ffp-contract=fast",
                                               "-ffp-contract=off"};
  return kFlags;
}

std::vector<std::string> required_entries(const Candidate& candidate) {
  std::vector<std::string> entries;
  for (const PlanStep& step : candidate.plan.steps) {
    const auto* kernel = std::get_if<KernelStep>(&step);
    if (kernel == nullptr) {
      continue;
    }
    if (std::find(entries.begin(), entries.end(), kernel->entry) == entries.end()) {
      entries.push_back(kernel->entry);
    }
  }
  return entries;
}

std::optional<Verdict> static_check(const Candidate& candidate, const graph::Graph& region,
                                    const graph::Bindings& bindings, const StaticLimits& limits) {
  if (candidate.kind != SourceKind::kCpp) {
    return refuse("source", "unknown kind of source");
  }
  if (candidate.plan.version != kLaunchPlanVersion) {
    return refuse("plan", fmt::format("launch plan version {}", candidate.plan.version));
  }
  if (candidate.plan.steps.empty() || candidate.plan.steps.size() > limits.steps_max) {
    return refuse("plan", fmt::format("{} steps", candidate.plan.steps.size()));
  }
  if (Problem problem = check_flags(candidate)) {
    return problem;
  }
  if (Problem problem = check_buffers(candidate, region, bindings, limits)) {
    return problem;
  }
  for (std::size_t i = 0; i < candidate.plan.steps.size(); ++i) {
    if (Problem problem =
            check_step(candidate.plan.steps[i], i, candidate, region, bindings, limits)) {
      return problem;
    }
  }
  if (Problem problem = check_outputs(candidate, region)) {
    return problem;
  }
  return check_source(candidate, limits);
}

}  // namespace fusefarm::verify
