// The one thread that writes: a bounded queue in, group commits out. Internal to store.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "store/database.h"
#include "store/store.h"

namespace fusefarm::store {

// Any thread may push and flush. Owns the writing connection; without a thread (StoreOptions) each
// push applies on its caller.
class Writer {
 public:
  // May be applied more than once, each time in a transaction that was rolled back before.
  using Write = std::function<Result<void>(Database&)>;

  Writer(std::unique_ptr<Database> database, const StoreOptions& options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Blocks while the queue is full. The error of an earlier write that can't be retried, or, when
  // the queue is full because there is no space, that one; then `write` was not queued.
  Result<void> push(Write write);
  Result<void> flush();
  // flush(), then ends the thread; nothing may be pushed after it.
  Result<void> stop();

 private:
  void loop();
  // Takes the next batch unless one waits for its retry, applies it and notes the result.
  void work(std::unique_lock<std::mutex>& lock);
  Result<void> apply(const std::vector<Write>& batch, std::size_t& applied);
  bool ready() const;

  const StoreOptions options_;
  const std::unique_ptr<Database> database_;
  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<Write> queue_;
  std::vector<Write> batch_;    // being applied, or waiting for its retry
  std::uint64_t pushed_ = 0;    // writes ever queued
  std::uint64_t durable_ = 0;   // of those, committed
  std::uint64_t failures_ = 0;  // attempts that failed for want of space
  int flushing_ = 0;            // callers in flush(): no waiting for company then
  bool retry_ = false;
  bool stopping_ = false;
  std::optional<Error> stuck_;   // last attempt's, can be retried
  std::optional<Error> failed_;  // for good
  std::thread thread_;
};

}  // namespace fusefarm::store
