#include "cli/doctor_checks.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fusefarm::cli {
namespace {

constexpr std::int64_t kMemoryNeeded = std::int64_t{3} << 30;  // of the quick start
constexpr std::int64_t kMemoryWanted = std::int64_t{4} << 30;
constexpr std::int64_t kDiskNeeded = std::int64_t{200} << 20;
constexpr std::int64_t kDiskWanted = std::int64_t{1} << 30;

std::string gigabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1 << 30));
}

Check cpu(const HostFacts& facts) {
  Check check{"cpu", CheckState::kOk, facts.cpu_model + ", AVX2 and FMA", ""};
  if (!facts.avx2_and_fma) {
    check.state = CheckState::kWarn;
    check.detail = facts.cpu_model + ", without AVX2 and FMA";
    check.remedy = "slow kernels are used; run on an x86 CPU of 2013 or later";
  }
  return check;
}

Check cores(const HostFacts& facts) {
  Check check{"cores", CheckState::kOk, std::to_string(facts.cores) + " usable", ""};
  if (facts.load > 0.5) {
    check.state = CheckState::kWarn;
    check.detail += fmt::format(", load {:.1f}", facts.load);
    check.remedy = "other processes disturb timings; stop them before a campaign";
  }
  return check;
}

Check memory(const HostFacts& facts) {
  Check check{"memory", CheckState::kOk, gigabytes(facts.memory_bytes) + " available", ""};
  if (facts.memory_bytes < kMemoryWanted) {
    check.state = facts.memory_bytes < kMemoryNeeded ? CheckState::kFail : CheckState::kWarn;
    check.remedy = "the quick start takes up to " + gigabytes(kMemoryWanted) +
                   "; free memory, or use fewer layers (model.layers)";
  }
  return check;
}

Check disk(const HostFacts& facts) {
  Check check{"disk", CheckState::kOk, gigabytes(facts.disk_bytes) + " free in " + facts.folder,
              ""};
  if (!facts.folder_writable) {
    check.state = CheckState::kWarn;
    check.detail = facts.folder + " is not writable";
    check.remedy = "change to another folder, or set store.path and output.folder";
  } else if (facts.disk_bytes < kDiskWanted) {
    check.state = facts.disk_bytes < kDiskNeeded ? CheckState::kFail : CheckState::kWarn;
    check.remedy = "free space, or set store.path and output.folder";
  }
  return check;
}

Check programs(const HostFacts& facts) {
  Check check{"programs", CheckState::kOk, "runner, compile and judge lie beside this one", ""};
  if (!facts.missing_programs.empty()) {
    check.state = CheckState::kFail;
    check.detail = "missing: " + join(facts.missing_programs, ", ");
    check.remedy = "install or build all programs into one folder";
  }
  return check;
}

Check compiler(const HostFacts& facts) {
  if (facts.compiler.ok()) {
    return {"compiler", CheckState::kOk, *facts.compiler, ""};
  }
  return {"compiler", CheckState::kFail, facts.compiler.error().message,
          "install a C++ compiler (Debian: apt-get install g++)"};
}

Check sandbox(const HostFacts& facts) {
  if (facts.sandbox.ok()) {
    return {"sandbox", CheckState::kOk, "bubblewrap, level " + *facts.sandbox, ""};
  }
  return {"sandbox", CheckState::kFail, facts.sandbox.error().message,
          "install bubblewrap and allow user namespaces"
          " (sysctl kernel.unprivileged_userns_clone=1), or set sandbox: degraded-ok"};
}

Check blas(const HostFacts& facts) {
  if (facts.blas_core.empty()) {
    return {"blas", CheckState::kInfo, "OpenBLAS chooses its kernels itself", ""};
  }
  return {"blas", CheckState::kOk, "OpenBLAS kernels for " + facts.blas_core, ""};
}

Check huge_pages(const HostFacts& facts) {
  Check check{"huge pages", CheckState::kOk, "transparent: " + facts.huge_pages, ""};
  if (facts.huge_pages.empty() || facts.huge_pages == "never") {
    check.state = CheckState::kWarn;
    check.detail = facts.huge_pages.empty() ? "setting unknown" : check.detail;
    check.remedy =
        "weights read slower; echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
  }
  return check;
}

Check gpu(const HostFacts& facts) {
  const std::string build = facts.cuda_headers ? "CUDA headers at build time"
                                               : "no CUDA headers at"
                                                 " build time";
  return {"gpu", CheckState::kInfo,
          (facts.gpu ? "NVIDIA driver present, not used" : "no GPU") +
              std::string("; campaigns run on the CPU; ") + build,
          ""};
}

}  // namespace

const char* to_string(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kInfo:
      return "info";
    case CheckState::kWarn:
      return "warn";
    case CheckState::kFail:
      return "fail";
  }
  return "unknown";
}

std::vector<Check> assess(const HostFacts& facts) {
  return {cpu(facts),
          cores(facts),
          memory(facts),
          disk(facts),
          programs(facts),
          compiler(facts),
          sandbox(facts),
          blas(facts),
          huge_pages(facts),
          gpu(facts),
          {"sqlite", CheckState::kOk, facts.sqlite + ", one writing connection", ""}};
}

}  // namespace fusefarm::cli
