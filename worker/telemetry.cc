#include "worker/telemetry.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/unique_fd.h"

namespace fusefarm::worker {
namespace {

// Kernel threads and timers take some microseconds from everybody; that much is no cotenant.
constexpr std::int64_t kWaitFloorNs = 1'000'000;
constexpr std::int64_t kWaitShare = 25;  // of the slot: one part in

std::vector<pid_t> children_of(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  pid_t child = 0;
  while (file >> child) {
    children.push_back(child);
  }
  return children;
}

std::string read_small(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  const ssize_t n = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : 0;
  return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
}

std::uint64_t word_of(const std::string& text, std::size_t index) {
  const std::vector<std::string> words = split(text.substr(0, text.find('\n')), ' ');
  if (index >= words.size()) {
    return 0;
  }
  return static_cast<std::uint64_t>(parse_int(words[index]).value_or(0));
}

}  // namespace

Telemetry Telemetry::attach(pid_t root) {
  pid_t innermost = root;
  for (int depth = 0; depth < 4; ++depth) {
    const std::vector<pid_t> children = children_of(innermost);
    if (children.empty()) {
      break;
    }
    innermost = children.front();
  }
  Telemetry telemetry;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(innermost) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator(tasks, error)) {
    const std::string file = entry.path().string() + "/schedstat";
    if (!read_small(file).empty()) {
      telemetry.files_.push_back(file);
    }
  }
  std::ranges::sort(telemetry.files_);
  return telemetry;
}

Telemetry::Reading Telemetry::read() const {
  Reading reading;
  for (const std::string& file : files_) {
    reading.waited_ns.push_back(word_of(read_small(file), 1));
  }
  // "cpu  user nice system idle iowait irq softirq steal ...": two blanks after the name.
  reading.stolen_ticks = word_of(read_small("/proc/stat"), 9);
  return reading;
}

std::string disturbance(const Telemetry::Reading& before, const Telemetry::Reading& after,
                        Duration elapsed) {
  if (after.stolen_ticks > before.stolen_ticks) {
    return "the hypervisor took the core";
  }
  const std::int64_t allowed = std::max(kWaitFloorNs, elapsed.count() / kWaitShare);
  for (std::size_t i = 0; i < std::min(before.waited_ns.size(), after.waited_ns.size()); ++i) {
    const auto waited = static_cast<std::int64_t>(after.waited_ns[i] - before.waited_ns[i]);
    if (waited > allowed) {
      return "a thread waited " + std::to_string(waited / 1000) + " us for its core";
    }
  }
  return {};
}

}  // namespace fusefarm::worker
