#include "runner/system_call_filter.h"

#include <array>
#include <cerrno>
#include <string>

#include "base/posix_error.h"

#ifdef FUSEFARM_SECCOMP
#include <seccomp.h>
#include <sys/mman.h>
#endif

namespace fusefarm::runner {

#ifdef FUSEFARM_SECCOMP
namespace {

// Memory of one's own (allocators, OpenBLAS's buffers), futexes, time, the watch on the parent, and
// the ways to die: abort() must be seen as SIGABRT.
constexpr std::array kAllowed{"futex",
                              "sched_yield",
                              "exit",
                              "exit_group",
                              "rt_sigreturn",
                              "rt_sigprocmask",
                              "rt_sigaction",
                              "gettid",
                              "getpid",
                              "tgkill",
                              "clock_gettime",
                              "gettimeofday",
                              "nanosleep",
                              "clock_nanosleep",
                              "restart_syscall",
                              "munmap",
                              "mremap",
                              "madvise",
                              "brk",
                              "poll",
                              "ppoll",
                              "getcpu",
                              "sched_getaffinity"};

// Placement hints that OpenBLAS gives for its buffers: it does without when they are absent.
constexpr std::array kAbsent{"mbind", "get_mempolicy", "set_mempolicy"};

// What a sanitizer's runtime does besides, when it allocates and when it reports.
constexpr std::array kAllowedForSanitizers{"write",       "writev",    "openat",     "read",
                                           "close",       "fstat",     "newfstatat", "readlink",
                                           "sigaltstack", "getrlimit", "prlimit64",  "lseek"};

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_KILL_PROCESS)) {}

  ~Filter() {
    if (context_ != nullptr) {
      ::seccomp_release(context_);
    }
  }

  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  Result<void> allow(const char* name) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) {
      return {};  // this architecture has no such call
    }
    return check(::seccomp_rule_add(context_, SCMP_ACT_ALLOW, number, 0), name);
  }

  Result<void> deny_as_absent(const char* name) {
    const int number = ::seccomp_syscall_resolve_name(name);
    return check(::seccomp_rule_add(context_, SCMP_ACT_ERRNO(ENOSYS), number, 0), name);
  }

  // With the third argument (protection) free of PROT_EXEC.
  Result<void> allow_unless_executable(const char* name) {
    const int number = ::seccomp_syscall_resolve_name(name);
    const scmp_arg_cmp plain = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    return check(::seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, number, 1, &plain), name);
  }

  Result<void> load() {
    TRY(check(::seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1), "thread sync"));
    return check(::seccomp_load(context_), "load");
  }

 private:
  static Result<void> check(int code, const char* what) {
    if (code == 0) {
      return {};
    }
    return posix_error(std::string("system-call filter: ") + what, -code);
  }

  scmp_filter_ctx context_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

bool has_compute_only_mode() { return true; }

Result<void> enter_compute_only_mode() {
  Filter filter;
  for (const char* name : kAllowed) {
    TRY(filter.allow(name));
  }
  for (const char* name : kAbsent) {
    TRY(filter.deny_as_absent(name));
  }
  TRY(filter.allow_unless_executable("mmap"));
  TRY(filter.allow_unless_executable("mprotect"));
  if (kSanitized) {
    for (const char* name : kAllowedForSanitizers) {
      TRY(filter.allow(name));
    }
  }
  return filter.load();
}

#else

bool has_compute_only_mode() { return false; }

Result<void> enter_compute_only_mode() { return {}; }

#endif

}  // namespace fusefarm::runner
