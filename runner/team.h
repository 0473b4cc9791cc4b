// The executor's threads: each pinned to its core, asleep on a futex while there is nothing to do,
// kept together by a barrier that spins before it sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/result.h"

namespace fusefarm::runner {

// Sense-reversing barrier of a fixed number of threads, reusable at once.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(static_cast<std::uint32_t>(threads)) {}

  void arrive_and_wait();

 private:
  std::uint32_t threads_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
};

// Thread 0 is the caller of run(). Threads live as long as the team.
class Team {
  struct Key {};

 public:
  // `cores`: thread t is pinned to cores[t mod size]; empty: nothing is pinned. Pins the caller.
  static Result<std::unique_ptr<Team>> start(int threads, const std::vector<int>& cores);

  // For start() alone, which has the key.
  Team(Key, int threads) : threads_(threads), barrier_(threads) {}

  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }

  Barrier& barrier() { return barrier_; }

  // task(t) on every thread t; returns when all have returned.
  void run(const std::function<void(int)>& task);

 private:
  Result<void> spawn(const std::vector<int>& cores);
  void serve(int thread);

  int threads_;
  Barrier barrier_;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> pin_failures_{0};
  std::atomic<bool> stop_{false};
  const std::function<void(int)>* task_ = nullptr;
  std::vector<std::thread> workers_;
};

}  // namespace fusefarm::runner
