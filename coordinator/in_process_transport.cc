#include "coordinator/in_process_transport.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace fusefarm::coordinator {
namespace {

// More would mean that the coordinator submits without waiting for results.
constexpr std::size_t kJobsMax = 64;

}  // namespace

class InProcessTransport::Shared {
 public:
  explicit Shared(JobHandler& handler) : handler_(handler), thread_([this] { work(); }) {}

  ~Shared() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Result<void> submit(LeaseId lease, Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() >= kJobsMax) {
        return Error{ErrorCode::kUnavailable, "the worker's queue is full"};
      }
      jobs_.emplace_back(lease, std::move(job));
    }
    changed_.notify_all();
    return {};
  }

  std::optional<TransportEvent> wait(Duration timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return !events_.empty(); });
    if (events_.empty()) {
      return std::nullopt;
    }
    TransportEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  void cancel(LeaseId lease) {
    const std::lock_guard lock(mutex_);
    cancelled_.insert(lease);
  }

 private:
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
      if (closing_) {
        return;
      }
      const auto [lease, job] = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      Result<JobResult> result = run(lease, job);
      post({lease, std::move(result)});
    }
  }

  Result<JobResult> run(LeaseId lease, const Job& job) {
    if (is_cancelled(lease)) {
      return Error{ErrorCode::kCancelled, "cancelled before it started"};
    }
    return handler_.run(
        job, [this](TransportEvent event) { post(std::move(event)); },
        [this, lease = lease] { return is_cancelled(lease); }, lease);
  }

  bool is_cancelled(LeaseId lease) {
    const std::lock_guard lock(mutex_);
    return closing_ || cancelled_.contains(lease);
  }

  void post(TransportEvent event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    changed_.notify_all();
  }

  JobHandler& handler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_.
  std::deque<std::pair<LeaseId, Job>> jobs_;
  std::deque<TransportEvent> events_;
  std::set<LeaseId> cancelled_;
  bool closing_ = false;
  // Last: starts when everything above exists.
  std::thread thread_;
};

InProcessTransport::InProcessTransport(JobHandler& handler)
    : shared_(std::make_unique<Shared>(handler)) {}

InProcessTransport::~InProcessTransport() = default;

Result<void> InProcessTransport::submit(LeaseId lease, Job job) {
  return shared_->submit(lease, std::move(job));
}

std::optional<TransportEvent> InProcessTransport::wait(Duration timeout) {
  return shared_->wait(timeout);
}

void InProcessTransport::cancel(LeaseId lease) { shared_->cancel(lease); }

}  // namespace fusefarm::coordinator
