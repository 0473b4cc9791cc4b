#include "runner/executor.h"

#include <algorithm>
#include <array>
#include <utility>

#include <immintrin.h>

namespace fusefarm::runner {
namespace {

using childlink::CommandArgs;
using childlink::LoadFault;
using codegen::TensorArg;

constexpr std::size_t kTensorsMax = 64;     // check_program refuses more
constexpr unsigned kDefaultMxcsr = 0x1f80;  // round to nearest, no flush to zero, all masked

LoadFault fault_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kExhausted:
      return LoadFault::kResource;
    case ErrorCode::kEnvironment:
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnavailable:
      return LoadFault::kHost;
    default:
      return LoadFault::kProgram;
  }
}

}  // namespace

std::unique_ptr<Executor> Executor::load(Program program, const SharedRegions& shared,
                                         const std::vector<int>& artifact_fds, Team& team,
                                         const Clock& clock, Failure& failure) {
  auto executor = std::make_unique<Executor>(Key{}, std::move(program), team);
  const TimePoint start = clock.now();
  Result<ProgramMemory> memory = ProgramMemory::create(executor->program_, shared, team);
  if (!memory.ok()) {
    failure = {fault_of(memory.error()), memory.error().message};
    return nullptr;
  }
  executor->memory_ = memory.take();
  if (auto loaded = executor->load_artifacts(artifact_fds); !loaded.ok()) {
    failure = {LoadFault::kArtifact, loaded.error().message};
    return nullptr;
  }
  for (std::size_t i = 0; i < executor->program_.steps.size(); ++i) {
    if (auto resolved = executor->resolve(executor->program_.steps[i]); !resolved.ok()) {
      const bool missing = resolved.error().code == ErrorCode::kNotFound;
      failure = {missing ? LoadFault::kArtifact : fault_of(resolved.error()),
                 "step " + std::to_string(i) + ": " + resolved.error().message};
      return nullptr;
    }
  }
  executor->report_.prepare_seconds = seconds(clock.now() - start);
  executor->report_.prepared_bytes = executor->memory_->prepared_bytes();
  executor->report_.private_bytes = executor->memory_->private_bytes();
  return executor;
}

Result<void> Executor::load_artifacts(const std::vector<int>& fds) {
  if (fds.size() != program_.artifacts.size()) {
    return Error{ErrorCode::kInvalidArgument, "a program lacks artifacts"};
  }
  for (const int fd : fds) {
    artifacts_.push_back(TRY(Artifact::load(fd)));
  }
  return {};
}

Result<void> Executor::resolve(const ProgramStep& from) {
  Step step;
  step.kind = from.kind;
  for (const TensorRef& ref : from.tensors) {
    const ProgramBuffer& buffer = program_.buffers[static_cast<std::size_t>(ref.buffer)];
    const std::int64_t bytes = ref.column * graph::bytes_of(buffer.dtype);
    step.buffers.push_back(ref.buffer);
    step.offsets.push_back(static_cast<std::size_t>(bytes));
    PreparedLayout layout;
    layout.panel = 0;  // row-major, unless it was prepared otherwise
    if (buffer.placement == Placement::kPrepared) {
      layout = buffer.layout;
    }
    step.tensors.push_back({memory_->at(ref.buffer, {}) + bytes, buffer.dtype, ref.rows,
                            ref.columns, ref.row_stride, layout});
  }
  if (from.kind == StepKind::kCandidate) {
    const Artifact& artifact = artifacts_[static_cast<std::size_t>(from.artifact)];
    step.entry = TRY(artifact.entry(from.entry));
    step.dims.assign(from.dims.begin(), from.dims.end());
    step.blocks = from.blocks;
  } else {
    TRY(resolve_builtin(from, step));
  }
  steps_.push_back(std::move(step));
  return {};
}

Result<void> Executor::resolve_builtin(const ProgramStep& from, Step& step) {
  const bool library =
      from.op == graph::OpKind::kLinear && (from.choice == "openblas" || from.choice == "onednn");
  if (!library) {
    step.kernel = TRY(codegen::BuiltinKernel::prepare(from.op, from.attrs, step.tensors));
    return {};
  }
  if (from.tensors.size() < 2) {
    return Error{ErrorCode::kInvalidArgument, "a linear step has no weight"};
  }
  const std::int32_t weight = step.buffers[1];
  const auto copies =
      static_cast<std::uint32_t>(program_.buffers[static_cast<std::size_t>(weight)].copies);
  std::vector<const void*> weights;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    weights.push_back(memory_->at(weight, {0, copy}) + step.offsets[1]);
  }
  step.library = TRY(prepare_gemm(from.choice, step.tensors, weights, team_.threads()));
  // Libraries generate code and map buffers at their first call, which the system-call filter would
  // not let them do. What this writes is written again by every launch.
  team_.run([&](int thread) { step.library->run(step.tensors, 0, thread); });
  report_.blas_core = openblas_core();
  return {};
}

bool Executor::run(const CommandArgs& args) {
  if (args.command == childlink::Command::kPoison) {
    memory_->poison(args.poison);
    return true;
  }
  if (args.command != childlink::Command::kRun || args.step_begin > args.step_end) {
    return false;
  }
  for (Share& share : shares_) {
    share.next[0].store(0, std::memory_order_relaxed);
    share.next[1].store(0, std::memory_order_relaxed);
  }
  team_.run([&](int thread) { run_launches(args, thread); });
  return true;
}

void Executor::run_launches(const CommandArgs& args, int thread) {
  const std::size_t end = std::min<std::size_t>(args.step_end, steps_.size());
  const auto sets = static_cast<std::uint32_t>(program_.sets);
  unsigned turn = 0;
  for (std::uint32_t launch = 0; launch < args.launches; ++launch) {
    const LaunchPlace place{(args.first_set + launch) % sets, args.first_copy + launch};
    for (std::size_t i = args.step_begin; i < end; ++i) {
      // A step may leave the control word as it likes; the next one starts from the same again.
      _mm_setcsr(kDefaultMxcsr);
      run_step(steps_[i], place, turn, thread);
      // Nobody takes from the other half before this thread has passed the barrier.
      shares_[static_cast<std::size_t>(thread)].next[1 - turn].store(0, std::memory_order_relaxed);
      turn = 1 - turn;
      team_.barrier().arrive_and_wait();
    }
  }
}

void Executor::run_step(Step& step, LaunchPlace place, unsigned turn, int thread) {
  const std::size_t count = step.tensors.size();
  if (step.kind == StepKind::kCandidate) {
    std::array<FfTensor, kTensorsMax> tensors;  // NOLINT: filled below, and not cleared every step
    for (std::size_t i = 0; i < count; ++i) {
      tensors[i] = {memory_->at(step.buffers[i], place) + step.offsets[i],
                    step.tensors[i].row_stride};
    }
    const FfArgs args{tensors.data(), step.dims.data()};
    run_blocks(step, args, turn, thread);
    return;
  }
  std::array<TensorArg, kTensorsMax> tensors;  // NOLINT: as above
  for (std::size_t i = 0; i < count; ++i) {
    tensors[i] = step.tensors[i];
    tensors[i].data = memory_->at(step.buffers[i], place) + step.offsets[i];
  }
  const std::span<const TensorArg> used(tensors.data(), count);
  if (step.library != nullptr) {
    step.library->run(used, place.copy, thread);
  } else {
    step.kernel->run(used, thread, team_.threads());
  }
}

void Executor::run_blocks(const Step& step, const FfArgs& args, unsigned turn, int thread) {
  const int threads = team_.threads();
  for (int i = 0; i < threads; ++i) {
    const int owner = (thread + i) % threads;
    const std::int64_t begin = step.blocks * owner / threads;
    const std::int64_t end = step.blocks * (owner + 1) / threads;
    std::atomic<std::int64_t>& next = shares_[static_cast<std::size_t>(owner)].next[turn];
    for (;;) {
      const std::int64_t block = begin + next.fetch_add(1, std::memory_order_relaxed);
      if (block >= end) {
        break;
      }
      step.entry.call(&args, block);
    }
  }
}

}  // namespace fusefarm::runner
