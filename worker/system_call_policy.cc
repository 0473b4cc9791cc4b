#include "worker/system_call_policy.h"

#include <array>
#include <cerrno>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/posix_error.h"

#ifdef FUSEFARM_SECCOMP
#include <sched.h>
#include <seccomp.h>
#endif

namespace fusefarm::worker {

#ifdef FUSEFARM_SECCOMP
namespace {

constexpr std::array kExecutorAllowed{"access",
                                      "arch_prctl",
                                      "brk",
                                      "clock_getres",
                                      "clock_gettime",
                                      "clock_nanosleep",
                                      "close",
                                      "dup",
                                      "dup2",
                                      "dup3",
                                      "execve",
                                      "exit",
                                      "exit_group",
                                      "faccessat",
                                      "faccessat2",
                                      "fcntl",
                                      "fstat",
                                      "futex",
                                      "getcpu",
                                      "getcwd",
                                      "getdents64",
                                      "getegid",
                                      "geteuid",
                                      "getgid",
                                      "getpid",
                                      "getppid",
                                      "getrandom",
                                      "getrlimit",
                                      "gettid",
                                      "gettimeofday",
                                      "getuid",
                                      "ioctl",
                                      "lseek",
                                      "lstat",
                                      "madvise",
                                      "membarrier",
                                      "mmap",
                                      "mprotect",
                                      "mremap",
                                      "munmap",
                                      "nanosleep",
                                      "newfstatat",
                                      "openat",
                                      "pipe2",
                                      "poll",
                                      "ppoll",
                                      "prctl",
                                      "pread64",
                                      "prlimit64",
                                      "read",
                                      "readlink",
                                      "readlinkat",
                                      "readv",
                                      "recvmsg",
                                      "restart_syscall",
                                      "rseq",
                                      "rt_sigaction",
                                      "rt_sigprocmask",
                                      "rt_sigreturn",
                                      "sched_getaffinity",
                                      "sched_setaffinity",
                                      "sched_yield",
                                      "seccomp",
                                      "sendmsg",
                                      "set_robust_list",
                                      "set_tid_address",
                                      "sigaltstack",
                                      "stat",
                                      "statx",
                                      "sysinfo",
                                      "tgkill",
                                      "uname",
                                      "wait4",
                                      "waitid",
                                      "write",
                                      "writev"};

constexpr std::array kCompilerDenied{"accept",
                                     "accept4",
                                     "add_key",
                                     "bind",
                                     "bpf",
                                     "chroot",
                                     "clock_settime",
                                     "connect",
                                     "delete_module",
                                     "finit_module",
                                     "fsmount",
                                     "fsopen",
                                     "init_module",
                                     "io_uring_enter",
                                     "io_uring_register",
                                     "io_uring_setup",
                                     "kexec_file_load",
                                     "kexec_load",
                                     "keyctl",
                                     "listen",
                                     "mount",
                                     "mount_setattr",
                                     "move_mount",
                                     "open_by_handle_at",
                                     "open_tree",
                                     "perf_event_open",
                                     "pidfd_getfd",
                                     "pivot_root",
                                     "process_vm_readv",
                                     "process_vm_writev",
                                     "ptrace",
                                     "quotactl",
                                     "reboot",
                                     "request_key",
                                     "setdomainname",
                                     "sethostname",
                                     "setns",
                                     "settimeofday",
                                     "socket",
                                     "swapoff",
                                     "swapon",
                                     "syslog",
                                     "umount2",
                                     "unshare",
                                     "userfaultfd"};

class Policy {
 public:
  explicit Policy(std::uint32_t otherwise) : context_(::seccomp_init(otherwise)) {}

  ~Policy() {
    if (context_ != nullptr) {
      ::seccomp_release(context_);
    }
  }

  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  Result<void> add(std::uint32_t action, std::span<const char* const> names) {
    for (const char* name : names) {
      const int number = ::seccomp_syscall_resolve_name(name);
      if (number == __NR_SCMP_ERROR) {
        continue;  // this library or architecture has no such call
      }
      TRY(check(::seccomp_rule_add(context_, action, number, 0), name));
    }
    return {};
  }

  // Threads but no processes. clone3's flags lie in memory that a filter can't see, so it looks
  // absent, and the C library falls back to clone.
  Result<void> allow_threads_only() {
    const scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
    TRY(check(::seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread),
              "clone"));
    return check(::seccomp_rule_add(context_, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0),
                 "clone3");
  }

  Result<UniqueFd> program() {
    UniqueFd fd(::memfd_create("fusefarm-filter", MFD_CLOEXEC));
    if (!fd.valid()) {
      return posix_error("create a filter", errno);
    }
    TRY(check(::seccomp_export_bpf(context_, fd.get()), "export"));
    if (::lseek(fd.get(), 0, SEEK_SET) != 0) {
      return posix_error("rewind a filter", errno);
    }
    return fd;
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

}  // namespace

bool has_system_call_policy() { return true; }

Result<UniqueFd> executor_filter() {
  Policy policy(SCMP_ACT_ERRNO(EPERM));
  TRY(policy.add(SCMP_ACT_ALLOW, kExecutorAllowed));
  TRY(policy.allow_threads_only());
  return policy.program();
}

Result<UniqueFd> compiler_filter() {
  Policy policy(SCMP_ACT_ALLOW);
  TRY(policy.add(SCMP_ACT_ERRNO(EPERM), kCompilerDenied));
  return policy.program();
}

#else

bool has_system_call_policy() { return false; }

Result<UniqueFd> executor_filter() {
  return Error{ErrorCode::kEnvironment, "this build has no libseccomp"};
}

Result<UniqueFd> compiler_filter() { return executor_filter(); }

#endif

}  // namespace fusefarm::worker
