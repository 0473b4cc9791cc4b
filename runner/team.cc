#include "runner/team.h"

#include <string>
#include <system_error>

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

namespace fusefarm::runner {
namespace {

// About 100 us: longer than any honest imbalance between two steps, shorter than a scheduler slice.
constexpr int kSpins = 4000;

Result<void> pin(int thread, const std::vector<int>& cores) {
  if (cores.empty()) {
    return {};
  }
  const auto core =
      static_cast<std::size_t>(cores[static_cast<std::size_t>(thread) % cores.size()]);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core < CPU_SETSIZE) {
    CPU_SET(core, &set);
  }
  if (::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set) != 0) {
    return Error{ErrorCode::kEnvironment, "can't run on core " + std::to_string(core)};
  }
  return {};
}

}  // namespace

void Barrier::arrive_and_wait() {
  if (threads_ == 1) {
    return;
  }
  const std::uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    generation_.notify_all();
    return;
  }
  for (int spin = 0; spin < kSpins; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) {
      return;
    }
    _mm_pause();
  }
  while (generation_.load(std::memory_order_acquire) == generation) {
    generation_.wait(generation, std::memory_order_acquire);
  }
}

Result<std::unique_ptr<Team>> Team::start(int threads, const std::vector<int>& cores) {
  auto team = std::make_unique<Team>(Key{}, threads);
  TRY(pin(0, cores));
  TRY(team->spawn(cores));
  team->run([](int) {});  // every thread is up and pinned
  if (team->pin_failures_.load() != 0) {
    return Error{ErrorCode::kEnvironment, "can't pin the executor's threads to its cores"};
  }
  return team;
}

Result<void> Team::spawn(const std::vector<int>& cores) {
  for (int t = 1; t < threads_; ++t) {
    try {
      workers_.emplace_back([this, t, cores] {
        if (!pin(t, cores).ok()) {
          pin_failures_.fetch_add(1);
        }
        serve(t);
      });
    } catch (const std::system_error& error) {
      // The destructor joins those that are up: they wait for the round that it starts.
      return Error{ErrorCode::kExhausted, std::string("can't start a thread: ") + error.what()};
    }
  }
  return {};
}

Team::~Team() {
  stop_.store(true);
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void Team::run(const std::function<void(int)>& task) {
  task_ = &task;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  task(0);
  barrier_.arrive_and_wait();
}

void Team::serve(int thread) {
  std::uint32_t seen = 0;
  for (;;) {
    round_.wait(seen, std::memory_order_acquire);
    seen = round_.load(std::memory_order_acquire);
    if (stop_.load()) {
      return;
    }
    (*task_)(thread);
    barrier_.arrive_and_wait();
  }
}

}  // namespace fusefarm::runner
