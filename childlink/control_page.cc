#include "childlink/control_page.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <new>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/posix_error.h"

namespace fusefarm::childlink {
namespace {

// The kernel's futex interface takes the plain word.
const std::uint32_t* plain(const Word& word) {
  return reinterpret_cast<const std::uint32_t*>(&word);
}

}  // namespace

Result<UniqueFd> make_control_page() {
  UniqueFd fd(::memfd_create("fusefarm-control", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) {
    return posix_error("create a control page", errno);
  }
  if (::ftruncate(fd.get(), kControlPageBytes) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return posix_error("size a control page", errno);
  }
  return fd;
}

Result<ControlMapping> ControlMapping::map(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return posix_error("inspect a control page", errno);
  }
  if (info.st_size != static_cast<off_t>(kControlPageBytes)) {
    return Error{ErrorCode::kIntegrity,
                 "a control page has " + std::to_string(info.st_size) + " bytes"};
  }
  void* at = ::mmap(nullptr, kControlPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    return posix_error("map a control page", errno);
  }
  return ControlMapping(std::launder(static_cast<ControlPage*>(at)));
}

ControlMapping::~ControlMapping() {
  if (page_ != nullptr) {
    ::munmap(page_, kControlPageBytes);
  }
}

std::uint32_t post_command(ControlPage& page, const CommandArgs& args) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  page.command.store(static_cast<std::uint32_t>(args.command), kRelaxed);
  page.first_set.store(args.first_set, kRelaxed);
  page.first_copy.store(args.first_copy, kRelaxed);
  page.launches.store(args.launches, kRelaxed);
  page.step_begin.store(args.step_begin, kRelaxed);
  page.step_end.store(args.step_end, kRelaxed);
  page.poison.store(args.poison, kRelaxed);
  const std::uint32_t number = page.sequence.load(kRelaxed) + 1;
  page.sequence.store(number, std::memory_order_seq_cst);
  futex_wake_all(page.sequence);
  return number;
}

CommandArgs read_command(const ControlPage& page) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  CommandArgs args;
  args.command = static_cast<Command>(page.command.load(kRelaxed));
  args.first_set = page.first_set.load(kRelaxed);
  args.first_copy = page.first_copy.load(kRelaxed);
  args.launches = page.launches.load(kRelaxed);
  args.step_begin = page.step_begin.load(kRelaxed);
  args.step_end = page.step_end.load(kRelaxed);
  args.poison = page.poison.load(kRelaxed);
  return args;
}

void futex_wait(const Word& word, std::uint32_t seen, Duration timeout) {
  if (timeout <= Duration::zero()) {
    return;
  }
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timespec spec{};
  spec.tv_sec = whole.count();
  spec.tv_nsec = (timeout - whole).count();
  // Not private: the word lies in memory shared between processes.
  ::syscall(SYS_futex, plain(word), FUTEX_WAIT, seen, &spec, nullptr, 0);
}

void futex_wake_all(Word& word) {
  ::syscall(SYS_futex, plain(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace fusefarm::childlink
