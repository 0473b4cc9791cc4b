// Two arms over shared boundary memory, timed in interleaved pairs. A small stand-in for worker and
// executor: no sandbox, one process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "codegen/kernels/builtin.h"
#include "codegen/lower.h"

namespace fusefarm::bench {

// Page-aligned memory in huge pages where the system gives them.
class Pages {
 public:
  explicit Pages(std::size_t bytes);
  ~Pages();

  Pages(Pages&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }

  Pages& operator=(Pages&&) = delete;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }

  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

// Threads that spin between the steps of a launch, pinned to cores 0..n-1.
class SpinTeam {
 public:
  explicit SpinTeam(int threads);
  ~SpinTeam();
  SpinTeam(const SpinTeam&) = delete;
  SpinTeam& operator=(const SpinTeam&) = delete;
  void run(const std::function<void(int thread)>& body);
  void barrier();

  int threads() const { return threads_; }

 private:
  int threads_;
  std::atomic<int> round_{0}, done_{0}, arrived_{0}, generation_{0};
  std::atomic<bool> stop_{false};
  const std::function<void(int)>* body_ = nullptr;
  std::vector<std::thread> workers_;
};

// Boundary memory and row-major weights, filled once.
struct Shared {
  Pages boundary, weights;
};

class Instance {
 public:
  Instance(const codegen::Lowered& lowered, const Shared& shared, const std::string& artifact,
           int threads);
  // One launch with weight copy `turn`, by thread `thread` of the team.
  void launch(int turn, int thread, SpinTeam& team);

  std::int64_t prepared_bytes() const { return prepared_bytes_; }

  std::size_t steps() const { return program_.steps.size(); }

 private:
  struct Step {
    std::vector<std::vector<codegen::TensorArg>> tensors;  // per copy
    std::vector<long> dims;
    codegen::BuiltinKernel kernel;
    void* entry = nullptr;
    long blocks = 0;
  };

  Program program_;
  std::vector<Pages> memory_;
  std::vector<Step> steps_;
  std::int64_t prepared_bytes_ = 0;
  int copies_ = 1;
};

// Seconds per launch of both, medians over `pairs` interleaved pairs of `launches` each.
struct PairTime {
  double first = 0, second = 0, ratio = 0;  // ratio: median of second / first
};

PairTime time_pairs(Instance& first, Instance& second, SpinTeam& team, int pairs, int launches);

}  // namespace fusefarm::bench
