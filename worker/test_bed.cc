#include "worker/test_bed.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/graph_io.h"

namespace fusefarm::worker {

Result<std::unique_ptr<TestBed>> TestBed::create(JudgeClient& judge, const TestBedSpec& spec) {
  auto bed = std::make_unique<TestBed>(Key{}, judge);
  bed->layout_ = graph::boundary_layout(*spec.graph, spec.bindings, spec.exposed);
  bed->sets_ = spec.sets;
  bed->entries_ = static_cast<int>(spec.entries.size());
  bed->entry_in_.assign(static_cast<std::size_t>(spec.sets), 0);
  const std::int64_t image = bed->layout_.bytes;
  bed->boundary_ = TRY(SharedMemory::create("fusefarm-boundary", image * spec.sets));
  bed->pool_memory_ = TRY(SharedMemory::create("fusefarm-pool", image * bed->entries_));
  for (const graph::TensorId id : spec.graph->outputs) {
    const graph::TensorId storage = graph::storage_of(*spec.graph, id);
    const auto offset = static_cast<std::size_t>(bed->layout_.offset.at(storage));
    const std::int64_t bytes = graph::byte_count(spec.graph->tensor(id), spec.bindings);
    bed->outputs_.push_back({offset, static_cast<std::size_t>(bytes)});
  }
  childlink::OpenPool request;
  request.graph_json = graph::to_json(*spec.graph);
  request.bindings = spec.bindings;
  request.tensor_of = spec.tensor_of;
  request.exposed = spec.exposed;
  request.entries = spec.entries;
  request.boundary_sets = spec.sets;
  request.whole_model = spec.whole_model;
  const UniqueFd boundary = TRY(bed->boundary_.read_only());
  bed->pool_ = TRY(judge.open_pool(request, bed->pool_memory_.fd(), boundary.get()));
  const int oracles = spec.oracles < 0 ? bed->entries_ : std::min(spec.oracles, bed->entries_);
  std::vector<int> now(static_cast<std::size_t>(oracles));
  std::iota(now.begin(), now.end(), 0);
  if (!now.empty()) {
    TRY(judge.prepare(bed->pool_, now));
  }
  return bed;
}

TestBed::~TestBed() {
  if (pool_ >= 0) {
    // A judge that can't be told is dead, and its pools with it.
    (void)judge_->close_pool(pool_).ok();
  }
}

std::int64_t TestBed::bytes() const {
  return static_cast<std::int64_t>(boundary_.bytes().size() + pool_memory_.bytes().size());
}

std::span<std::byte> TestBed::set_bytes(int set) const {
  const auto image = static_cast<std::size_t>(layout_.bytes);
  return boundary_.bytes().subspan(image * static_cast<std::size_t>(set), image);
}

void TestBed::refill(int first, int among) {
  for (int set = 0; set < sets_; ++set) {
    refill_set(set, (first + set) % among);
  }
}

void TestBed::refill_set(int set, int entry) {
  const std::span<std::byte> to = set_bytes(set);
  const auto from = pool_memory_.bytes().subspan(to.size() * static_cast<std::size_t>(entry));
  std::memcpy(to.data(), from.data(), to.size());
  entry_in_[static_cast<std::size_t>(set)] = entry;
}

Result<childlink::Compared> TestBed::compare(int set) const {
  return judge_->compare(pool_, set, entry_in(set));
}

bool TestBed::outputs_equal(int set, std::span<const std::byte> other) const {
  const std::span<const std::byte> own = set_bytes(set);
  return std::ranges::all_of(outputs_, [&](const Range& range) {
    return std::memcmp(own.data() + range.offset, other.data() + range.offset, range.bytes) == 0;
  });
}

std::vector<std::byte> TestBed::image(int set) const {
  const std::span<const std::byte> bytes = set_bytes(set);
  return {bytes.begin(), bytes.end()};
}

Result<childlink::ModelCompared> TestBed::compare_model(int before, int after) const {
  return judge_->compare_model({pool_, before, after, entry_in(before)});
}

}  // namespace fusefarm::worker
