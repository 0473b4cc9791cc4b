// store_crash_writer DATABASE: writes without end and prints each number that is durable, until it
// is killed (crash_test.cc).
#include <cstdio>

#include <unistd.h>

#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

Result<void> write_one(Store& store, CampaignId campaign, std::int64_t number) {
  const Candidate candidate = numbered_candidate(static_cast<int>(number));
  TRY(store.append_decision(campaign, {number, "select", "{}"}));
  TRY(store.save_candidate(candidate));
  const ExperimentId id = TRY(store.start_experiment(campaign, 1, sample_key(candidate)));
  TRY(store.finish_experiment(id, sample_outcome(candidate)));
  return store.flush();
}

Result<void> run(const std::string& path) {
  const std::unique_ptr<Store> store = TRY(Store::open(path, system_clock()));
  const CampaignId campaign =
      TRY(store->begin_or_resume_campaign(sample_spec(), digest_of("s"))).id;
  std::int64_t next =
      static_cast<std::int64_t>(TRY(TRY(store->read())->decisions(campaign)).size());
  while (true) {
    TRY(write_one(*store, campaign, next));
    const std::string line = std::to_string(next++) + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) {
      return {};
    }
  }
}

}  // namespace
}  // namespace fusefarm::store

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  const fusefarm::Result<void> done = fusefarm::store::run(argv[1]);
  if (!done.ok()) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
  }
  return 1;
}
