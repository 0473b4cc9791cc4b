#include "worker/host.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include <sched.h>

namespace fusefarm::worker {
namespace {

// The value of the first line of /proc/cpuinfo with this key.
std::string cpu_info(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && line.starts_with(key)) {
      const std::size_t start = line.find_first_not_of(" \t", colon + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return {};
}

bool has_flag(const std::string& flags, const std::string& flag) {
  std::istringstream words(flags);
  std::string word;
  while (words >> word) {
    if (word == flag) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<int> usable_cores(int count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) {
    return cores;
  }
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    const bool wanted = count <= 0 || cores.size() < static_cast<std::size_t>(count);
    if (wanted && CPU_ISSET(static_cast<std::size_t>(core), &set)) {
      cores.push_back(core);
    }
  }
  return cores;
}

std::string device_class(std::size_t cores) {
  std::string model = cpu_info("model name");
  if (model.empty()) {
    model = "unknown";
  }
  return "cpu:" + model + ":" + std::to_string(cores);
}

std::int64_t last_level_cache_bytes() {
  constexpr std::int64_t kDefault = std::int64_t{32} << 20;
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    std::int64_t size = 0;
    char unit = 0;
    if (file >> size) {
      file >> unit;
      largest = std::max(largest, size * (unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1));
    }
  }
  return largest > 0 ? largest : kDefault;
}

std::string best_blas_core() {
  const std::string flags = cpu_info("flags");
  if (has_flag(flags, "avx512f") && has_flag(flags, "avx512dq")) {
    return "SkylakeX";
  }
  if (has_flag(flags, "avx2") && has_flag(flags, "fma")) {
    return cpu_info("vendor_id") == "AuthenticAMD" ? "Zen" : "Haswell";
  }
  return {};
}

bool is_slow_blas_core(const std::string& name) {
  constexpr std::array kFast{"Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids"};
  return std::ranges::none_of(kFast, [&](const char* fast) { return name == fast; });
}

}  // namespace fusefarm::worker
