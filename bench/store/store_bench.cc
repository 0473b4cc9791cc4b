// Finished experiments a second by how many share a flush: a result is what the coordinator writes
// for one screened candidate (start, outcome, raw samples of 100 quads).
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include "store/store.h"

namespace fusefarm::store {
namespace {

Outcome outcome_of_100_quads(const Digest& candidate) {
  Outcome outcome;
  outcome.candidate = candidate;
  outcome.workload = "decode-8";
  outcome.verdict.klass = VerdictClass::kNoGain;
  outcome.screen = Interval{0.1, 0.05, 0.15};
  Quad quad;
  for (Slot& slot : quad.slots) {
    slot.nanoseconds = 1'000'000;
  }
  outcome.measurements = {{"screen", {Block{true, std::vector<Quad>(100, quad)}}}};
  return outcome;
}

void BM_FinishedExperiments(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "fusefarm-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    state.SkipWithError("no temporary folder");
    return;
  }
  auto store = Store::open(folder + "/history.db", system_clock()).take();
  CampaignSpec spec;
  spec.name = "bench";
  const CampaignId campaign = store->begin_or_resume_campaign(spec, digest_of("s")).take().id;
  std::int64_t number = 0;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      ExperimentKey key;
      key.candidate = digest_of(std::to_string(number++));
      const ExperimentId id = store->start_experiment(campaign, 1, key).take();
      store->finish_experiment(id, outcome_of_100_quads(key.candidate)).take();
    }
    store->flush().take();
  }
  state.SetItemsProcessed(number);
  store.reset();
  state.counters["bytes_each"] =
      static_cast<double>(std::filesystem::file_size(folder + "/history.db")) /
      static_cast<double>(number);
  std::filesystem::remove_all(folder);
}

BENCHMARK(BM_FinishedExperiments)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseRealTime();

void BM_FindOutcome(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "fusefarm-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    state.SkipWithError("no temporary folder");
    return;
  }
  auto store = Store::open(folder + "/history.db", system_clock()).take();
  CampaignSpec spec;
  spec.name = "bench";
  const CampaignId campaign = store->begin_or_resume_campaign(spec, digest_of("s")).take().id;
  constexpr std::int64_t kRows = 20'000;
  for (std::int64_t i = 0; i < kRows; ++i) {
    ExperimentKey key;
    key.candidate = digest_of(std::to_string(i));
    const ExperimentId id = store->start_experiment(campaign, 1, key).take();
    store->finish_experiment(id, outcome_of_100_quads(key.candidate)).take();
  }
  const History* history = store->read().take();
  std::int64_t next = 0;
  for (auto _ : state) {
    ExperimentKey key;
    key.candidate = digest_of(std::to_string(next++ % kRows));
    benchmark::DoNotOptimize(history->find_outcome(key).take());
  }
  store.reset();
  std::filesystem::remove_all(folder);
}

BENCHMARK(BM_FindOutcome);

}  // namespace
}  // namespace fusefarm::store
