#include "store/writer.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace fusefarm::store {
namespace {

bool passes(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kUnavailable;
}

}  // namespace

Writer::Writer(std::unique_ptr<Database> database, const StoreOptions& options)
    : options_(options), database_(std::move(database)) {
  if (options_.writer_thread) {
    thread_ = std::thread([this] { loop(); });
  }
}

Writer::~Writer() {
  const Result<void> stopped = stop();
  if (!stopped.ok()) {
    logger("store").error("writes_lost path={} error=\"{}\"", database_->path(),
                          stopped.error().message);
  }
}

Result<void> Writer::push(Write write) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return failed_ || stuck_ || queue_.size() < options_.queue_max; });
  if (failed_) {
    return *failed_;
  }
  if (queue_.size() >= options_.queue_max) {
    return *stuck_;
  }
  queue_.push_back(std::move(write));
  ++pushed_;
  if (options_.writer_thread) {
    work_.notify_one();
    return {};
  }
  while (ready()) {
    work(lock);
  }
  if (failed_) {
    return *failed_;
  }
  if (stuck_) {
    return *stuck_;
  }
  return {};
}

Result<void> Writer::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = pushed_;
  const std::uint64_t failures = failures_;
  retry_ = true;
  ++flushing_;
  work_.notify_one();
  const auto settled = [&] {
    return durable_ >= target || failed_ || (stuck_ && (stopping_ || failures_ != failures));
  };
  while (!options_.writer_thread && !settled() && ready()) {
    work(lock);
  }
  done_.wait(lock, settled);
  --flushing_;
  if (durable_ >= target) {
    return {};
  }
  return failed_ ? *failed_ : *stuck_;
}

Result<void> Writer::stop() {
  const Result<void> flushed = flush();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  return flushed;
}

bool Writer::ready() const {
  if (failed_ || (queue_.empty() && batch_.empty())) {
    return false;
  }
  return !stuck_ || retry_;
}

void Writer::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return stopping_ || ready(); });
    if (stopping_) {
      return;
    }
    work_.wait_for(lock, options_.batch_delay, [&] {
      return stopping_ || flushing_ > 0 || queue_.size() >= options_.batch_max;
    });
    if (ready()) {
      work(lock);
    }
  }
}

void Writer::work(std::unique_lock<std::mutex>& lock) {
  const std::size_t room = options_.batch_max - std::min(options_.batch_max, batch_.size());
  for (std::size_t i = std::min(room, queue_.size()); i > 0; --i) {
    batch_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  retry_ = false;
  lock.unlock();
  std::size_t applied = 0;
  const Result<void> result = apply(batch_, applied);
  lock.lock();
  batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(applied));
  durable_ += applied;
  stuck_.reset();
  if (!result.ok() && passes(result.error())) {
    stuck_ = result.error();
    ++failures_;
  } else if (!result.ok()) {
    failed_ = result.error();
    logger("store").error("write_failed path={} error=\"{}\"", database_->path(),
                          result.error().message);
  }
  done_.notify_all();
}

Result<void> Writer::apply(const std::vector<Write>& batch, std::size_t& applied) {
  const auto apply_range = [&](std::size_t begin, std::size_t end) -> Result<void> {
    Transaction transaction = TRY(Transaction::begin(*database_));
    for (std::size_t i = begin; i < end; ++i) {
      TRY(batch[i](*database_));
    }
    TRY(transaction.commit());
    applied = end;
    return {};
  };
  const Result<void> together = apply_range(0, batch.size());
  if (together.ok() || passes(together.error())) {
    return together;
  }
  // One of them is at fault: those before it must not be lost with it.
  for (std::size_t i = 0; i < batch.size(); ++i) {
    TRY(apply_range(i, i + 1));
  }
  return {};
}

}  // namespace fusefarm::store
