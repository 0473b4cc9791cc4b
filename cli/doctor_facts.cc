#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/doctor_checks.h"
#include "store/history.h"
#include "worker/build_pool.h"
#include "worker/host.h"
#include "worker/sandbox.h"

namespace fusefarm::cli {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number in "Key:   123 kB" of a /proc file, in bytes; 0 when it is not there.
std::int64_t kilobytes_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) {
      continue;
    }
    std::istringstream words(line.substr(key.size()));
    std::int64_t kilobytes = 0;
    words >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

std::int64_t available_memory() {
  std::int64_t bytes = kilobytes_of("/proc/meminfo", "MemAvailable:");
  for (const char* limit :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const Result<std::int64_t> bound = parse_int(first_line(limit));
    if (bound.ok() && *bound < bytes) {
      bytes = *bound;
    }
  }
  return bytes;
}

// "never" of "always madvise [never]".
std::string chosen(const std::string& setting) {
  const std::size_t open = setting.find('[');
  const std::size_t close = setting.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return {};
  }
  return setting.substr(open + 1, close - open - 1);
}

// The folder of this program: its siblings are the child programs.
std::string program_folder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path().string();
}

}  // namespace

HostFacts gather_facts() {
  HostFacts facts;
  const std::vector<int> cores = worker::usable_cores(0);
  facts.cores = static_cast<int>(cores.size());
  const std::vector<std::string> parts = split(worker::device_class(cores.size()), ':');
  facts.cpu_model = parts.size() > 1 ? parts[1] : "unknown";
  facts.blas_core = worker::best_blas_core();
  facts.avx2_and_fma = !facts.blas_core.empty();
  std::istringstream(first_line("/proc/loadavg")) >> facts.load;
  facts.memory_bytes = available_memory();

  std::error_code error;
  facts.folder = std::filesystem::current_path(error).string();
  struct statvfs disk{};
  if (::statvfs(".", &disk) == 0) {
    facts.disk_bytes = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
  }
  facts.folder_writable = ::access(".", W_OK) == 0;

  const std::string folder = program_folder();
  for (const char* program : {"fusefarm-runner", "fusefarm-compile", "fusefarm-judge"}) {
    if (::access((folder + "/" + program).c_str(), X_OK) != 0) {
      facts.missing_programs.push_back(folder + "/" + program);
    }
  }
  worker::SandboxOptions options;
  options.program_folder = folder;
  options.degraded_ok = false;
  const Result<worker::Sandbox> sandbox = worker::Sandbox::detect(options);
  facts.sandbox = sandbox.ok() ? Result<std::string>(worker::to_string(sandbox->level()))
                               : Result<std::string>(sandbox.error());
  options.degraded_ok = true;
  const Result<worker::Sandbox> any = worker::Sandbox::detect(options);
  if (any.ok()) {
    facts.compiler = worker::BuildPool(*any, {}, system_clock()).toolchain();
  } else {
    facts.compiler = any.error();
  }
  facts.huge_pages = chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.sqlite = store::sqlite_version();
  facts.gpu = std::filesystem::exists("/dev/nvidiactl", error) ||
              std::filesystem::exists("/proc/driver/nvidia/version", error);
  facts.cuda_headers = FUSEFARM_HAVE_CUDA_HEADERS != 0;
  return facts;
}

}  // namespace fusefarm::cli
