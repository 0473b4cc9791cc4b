// Where the arms of one comparison meet: boundary memory with its launch sets, the pool of inputs
// that the judge filled, and the judge's ear. One per region (or model) x bindings.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "childlink/judge_messages.h"
#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "worker/judge_client.h"
#include "worker/shared_memory.h"

namespace fusefarm::worker {

struct TestBedSpec {
  const graph::Graph* graph = nullptr;  // borrowed for the call
  graph::Bindings bindings;
  std::vector<graph::TensorId> tensor_of;  // graph tensor -> tensor of the model; empty: the same
  std::vector<graph::TensorId> exposed;
  std::vector<childlink::PoolEntry> entries;
  int sets = 1;
  bool whole_model = false;
  int oracles = -1;  // of the first so many entries are computed at once; -1: of all
};

class TestBed {
  struct Key {};

 public:
  // Fills the pool and computes its oracles, so that nothing of it runs beside a timed slot.
  static Result<std::unique_ptr<TestBed>> create(JudgeClient& judge, const TestBedSpec& spec);

  // For create() alone, which has the key.
  TestBed(Key, JudgeClient& judge) : judge_(&judge) {}

  ~TestBed();
  TestBed(const TestBed&) = delete;
  TestBed& operator=(const TestBed&) = delete;

  const graph::BoundaryLayout& layout() const { return layout_; }

  int boundary_fd() const { return boundary_.fd(); }

  int sets() const { return sets_; }

  int entries() const { return entries_; }

  std::int64_t bytes() const;  // of shared memory

  // Set i gets entry (first + i) mod the first `among` entries, outputs poisoned as the entry has
  // it.
  void refill(int first, int among);
  void refill_set(int set, int entry);

  int entry_in(int set) const { return entry_in_[static_cast<std::size_t>(set)]; }

  // The set's outputs against the oracle of the entry that was put in.
  Result<childlink::Compared> compare(int set) const;
  // Bit-equality of all outputs, state included.
  bool outputs_equal(int set, std::span<const std::byte> image) const;
  std::vector<std::byte> image(int set) const;
  Result<childlink::ModelCompared> compare_model(int before, int after) const;

 private:
  struct Range {
    std::size_t offset = 0, bytes = 0;
  };

  std::span<std::byte> set_bytes(int set) const;

  JudgeClient* judge_;
  graph::BoundaryLayout layout_;
  SharedMemory boundary_, pool_memory_;
  std::int64_t pool_ = -1;
  int sets_ = 0, entries_ = 0;
  std::vector<int> entry_in_;
  std::vector<Range> outputs_;
};

}  // namespace fusefarm::worker
