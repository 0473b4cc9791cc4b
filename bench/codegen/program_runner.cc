#include "bench/codegen/program_runner.h"

#include <algorithm>
#include <cstdlib>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/time.h"
#include "codegen/kernels/kernel_table.h"
#include "codegen/kernels/pack.h"

namespace fusefarm::bench {

namespace {

struct FfTensor {
  void* data;
  long row_stride;
};

struct FfArgs {
  const FfTensor* tensors;
  const long* dims;
};

using Entry = void (*)(const FfArgs*, long);

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

}  // namespace

Pages::Pages(std::size_t bytes)
    : data_(nullptr), bytes_((bytes + (2U << 20)) & ~std::size_t{0xfff}) {
  void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FUSEFARM_CHECK(at != MAP_FAILED, "no memory");
  ::madvise(at, bytes_, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(at);
}

Pages::~Pages() {
  if (data_ != nullptr) {
    ::munmap(data_, bytes_);
  }
}

SpinTeam::SpinTeam(int threads) : threads_(threads) {
  pin(0);
  for (int t = 1; t < threads; ++t) {
    workers_.emplace_back([this, t] {
      pin(t);
      int seen = 0;
      for (;;) {
        while (round_.load(std::memory_order_acquire) == seen) {
          if (stop_.load(std::memory_order_relaxed)) {
            return;
          }
          __builtin_ia32_pause();
        }
        ++seen;
        (*body_)(t);
        done_.fetch_add(1, std::memory_order_acq_rel);
      }
    });
  }
}

SpinTeam::~SpinTeam() {
  stop_.store(true);
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void SpinTeam::run(const std::function<void(int)>& body) {
  body_ = &body;
  done_.store(0, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_acq_rel);
  body(0);
  while (done_.load(std::memory_order_acquire) != threads_ - 1) {
    __builtin_ia32_pause();
  }
}

void SpinTeam::barrier() {
  const int generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
  while (generation_.load(std::memory_order_acquire) == generation) {
    __builtin_ia32_pause();
  }
}

Instance::Instance(const codegen::Lowered& lowered, const Shared& shared,
                   const std::string& artifact, int threads)
    : program_(lowered.program) {
  std::vector<std::byte*> data;
  std::vector<std::size_t> copy_bytes;
  for (const ProgramBuffer& buffer : program_.buffers) {
    const auto bytes =
        static_cast<std::size_t>(buffer.rows * buffer.columns * graph::bytes_of(buffer.dtype));
    const std::size_t padded = (bytes + 4095U) & ~std::size_t{4095};
    copies_ = std::max(copies_, buffer.copies);
    copy_bytes.push_back(0);
    if (buffer.placement == Placement::kBoundary) {
      data.push_back(shared.boundary.data() + buffer.offset);
      continue;
    }
    if (buffer.placement == Placement::kWeights) {
      data.push_back(shared.weights.data() + buffer.offset);
      continue;
    }
    const auto copies = static_cast<std::size_t>(buffer.copies);
    memory_.emplace_back(padded * copies);
    data.push_back(memory_.back().data());
    copy_bytes.back() = padded;
    if (buffer.placement == Placement::kPrepared) {
      prepared_bytes_ += static_cast<std::int64_t>(bytes);
    }
  }
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program_.buffers[i];
    if (buffer.placement != Placement::kPrepared) {
      continue;
    }
    const auto& source = program_.buffers[static_cast<std::size_t>(buffer.source)];
    for (int c = 0; c < buffer.copies; ++c) {
      codegen::pack_weight(buffer.layout, data[static_cast<std::size_t>(buffer.source)],
                           source.dtype, source.rows, source.columns,
                           data[i] + copy_bytes[i] * static_cast<std::size_t>(c));
    }
  }
  void* library = artifact.empty() ? nullptr : ::dlopen(artifact.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const ProgramStep& from : program_.steps) {
    Step step;
    for (int c = 0; c < copies_; ++c) {
      std::vector<codegen::TensorArg> tensors;
      for (const TensorRef& ref : from.tensors) {
        const auto index = static_cast<std::size_t>(ref.buffer);
        const ProgramBuffer& buffer = program_.buffers[index];
        std::byte* at =
            data[index] + copy_bytes[index] * static_cast<std::size_t>(c % buffer.copies);
        tensors.push_back({at + ref.column * graph::bytes_of(buffer.dtype), buffer.dtype, ref.rows,
                           ref.columns, ref.row_stride, buffer.layout});
      }
      step.tensors.push_back(std::move(tensors));
    }
    step.dims.assign(from.dims.begin(), from.dims.end());
    step.blocks = from.blocks;
    if (from.kind == StepKind::kCandidate) {
      step.entry = ::dlsym(library, from.entry.c_str());
      FUSEFARM_CHECK(step.entry != nullptr, from.entry);
    } else {
      auto kernel = codegen::BuiltinKernel::prepare(from.op, from.attrs, step.tensors[0]);
      FUSEFARM_CHECK(kernel.ok(), kernel.error().message);
      step.kernel = kernel.value();
    }
    steps_.push_back(std::move(step));
  }
  (void)threads;
}

void Instance::launch(int turn, int thread, SpinTeam& team) {
  for (Step& step : steps_) {
    const auto& tensors = step.tensors[static_cast<std::size_t>(turn % copies_)];
    if (step.entry == nullptr) {
      step.kernel.run(tensors, thread, team.threads());
    } else {
      FfTensor args[64];
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        args[i] = {tensors[i].data, static_cast<long>(tensors[i].row_stride)};
      }
      const FfArgs call{args, step.dims.data()};
      const auto share = codegen::share_of(step.blocks, thread, team.threads());
      for (std::int64_t block = share.begin; block < share.end; ++block) {
        reinterpret_cast<Entry>(step.entry)(&call, block);
      }
    }
    team.barrier();
  }
}

namespace {

double slot(Instance& instance, SpinTeam& team, int launches, int& turn) {
  const Clock& clock = system_clock();
  const TimePoint start = clock.now();
  const int first = turn;
  team.run([&](int thread) {
    for (int i = 0; i < launches; ++i) {
      instance.launch(first + i, thread, team);
    }
  });
  turn += launches;
  return seconds(clock.now() - start) / launches;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

PairTime time_pairs(Instance& first, Instance& second, SpinTeam& team, int pairs, int launches) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> ratio;
  int turn_a = 0;
  int turn_b = 0;
  slot(first, team, launches, turn_a);
  slot(second, team, launches, turn_b);
  for (int pair = 0; pair < pairs; ++pair) {
    double s = 0;
    double t = 0;
    if (pair % 2 == 0) {
      s = slot(first, team, launches, turn_a);
      t = slot(second, team, launches, turn_b);
    } else {
      t = slot(second, team, launches, turn_b);
      s = slot(first, team, launches, turn_a);
    }
    a.push_back(s);
    b.push_back(t);
    ratio.push_back(t / s);
  }
  return {median(a), median(b), median(ratio)};
}

}  // namespace fusefarm::bench
