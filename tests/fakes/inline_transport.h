// A Transport without threads: a job runs inside wait(), its events come out one a call.
#pragma once

#include <deque>
#include <set>
#include <utility>

#include "records/transport.h"

namespace fusefarm::fakes {

class InlineTransport final : public Transport {
 public:
  explicit InlineTransport(JobHandler& handler) : handler_(handler) {}

  Result<void> submit(LeaseId lease, Job job) override;
  std::optional<TransportEvent> wait(Duration timeout) override;

  void cancel(LeaseId lease) override { cancelled_.insert(lease); }

  int submitted() const { return submitted_; }

 private:
  JobHandler& handler_;
  std::deque<std::pair<LeaseId, Job>> jobs_;
  std::deque<TransportEvent> events_;
  std::set<LeaseId> cancelled_;
  int submitted_ = 0;
};

}  // namespace fusefarm::fakes
