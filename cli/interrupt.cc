#include "cli/interrupt.h"

#include <atomic>
#include <initializer_list>
#include <string_view>

#include <signal.h>
#include <unistd.h>

namespace fusefarm::cli {
namespace {

// A signal handler can reach nothing but a global; lock-free, so safe there.
std::atomic<bool> interrupted_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr std::string_view kNotice =
    "\nfusefarm: stopping at the next safe point; once more to stop at once\n";

void on_signal(int) {
  interrupted_flag = true;
  // write() alone is safe here; a notice that can't be written is not worth failing for.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kNotice.data(), kNotice.size());
}

}  // namespace

void watch_for_interrupt() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) {
    sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return interrupted_flag; }

}  // namespace fusefarm::cli
