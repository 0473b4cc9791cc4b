#include "tests/fakes/inline_transport.h"

namespace fusefarm::fakes {

Result<void> InlineTransport::submit(LeaseId lease, Job job) {
  ++submitted_;
  jobs_.emplace_back(lease, std::move(job));
  return {};
}

std::optional<TransportEvent> InlineTransport::wait(Duration) {
  if (events_.empty() && !jobs_.empty()) {
    const auto [lease, job] = std::move(jobs_.front());
    jobs_.pop_front();
    Result<JobResult> result = handler_.run(
        job, [this](TransportEvent event) { events_.push_back(std::move(event)); },
        [this, lease = lease] { return cancelled_.contains(lease); }, lease);
    events_.push_back({lease, std::move(result)});
  }
  if (events_.empty()) {
    return std::nullopt;
  }
  TransportEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace fusefarm::fakes
