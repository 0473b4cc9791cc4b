// One page of shared memory between the worker and one executor, and of no other process: the
// worker writes a command and bumps its sequence number, the executor runs it and copies the number
// back. Both sleep on futexes, so that an idle arm costs nothing.
//
// The executor holds untrusted code: the worker reads nothing here but `done` and `status`,
// believes neither as a time nor as a result, and brackets every command with its own clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"

namespace fusefarm::childlink {

enum class Command : std::uint32_t {
  kRun = 1,     // `launches` launches of the steps [step_begin, step_end)
  kPoison = 2,  // overwrite private scratch with plausible values
};

struct CommandArgs {
  Command command = Command::kRun;
  std::uint32_t first_set = 0;   // launch i uses set (first_set + i) mod sets
  std::uint32_t first_copy = 0;  // and weight copy (first_copy + i) mod copies
  std::uint32_t launches = 1;
  std::uint32_t step_begin = 0;
  std::uint32_t step_end = UINT32_MAX;  // clipped to the number of steps
  std::uint32_t poison = 0;             // selects the pattern of kPoison
};

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4, "shared between processes");

// All words atomic: the other side may write at any time, whatever the protocol says.
struct ControlPage {
  alignas(64) Word sequence;
  Word command, first_set, first_copy, launches, step_begin, step_end, poison;
  alignas(64) Word done;
  Word status;  // 0: ran
};

constexpr std::size_t kControlPageBytes = 4096;
static_assert(sizeof(ControlPage) <= kControlPageBytes);

// A mapping of the page, unmapped with its owner.
class ControlMapping {
 public:
  static Result<ControlMapping> map(int fd);

  ControlMapping(ControlMapping&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

  ControlMapping& operator=(ControlMapping&& other) noexcept {
    std::swap(page_, other.page_);
    return *this;
  }

  ControlMapping(const ControlMapping&) = delete;
  ControlMapping& operator=(const ControlMapping&) = delete;
  ~ControlMapping();

  ControlPage& page() const { return *page_; }

 private:
  explicit ControlMapping(ControlPage* page) : page_(page) {}

  ControlPage* page_ = nullptr;
};

// A new page as a sealed memfd (it can neither shrink nor grow), all zero.
Result<UniqueFd> make_control_page();

// Worker: writes the arguments, bumps the sequence and wakes the executor. Returns the number that
// `done` will hold when the command is through.
std::uint32_t post_command(ControlPage& page, const CommandArgs& args);

// Executor: the arguments as they stand.
CommandArgs read_command(const ControlPage& page);

// Sleeps until `word` differs from `seen` or the time-out is over; may also return early.
void futex_wait(const Word& word, std::uint32_t seen, Duration timeout);
void futex_wake_all(Word& word);

}  // namespace fusefarm::childlink
