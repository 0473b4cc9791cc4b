#include "base/log.h"

#include <map>
#include <mutex>

#include <spdlog/sinks/stdout_color_sinks.h>

namespace fusefarm {
namespace {

struct Loggers {
  std::mutex mutex;
  spdlog::level::level_enum level = spdlog::level::warn;
  std::map<std::string, std::unique_ptr<spdlog::logger>> by_module;
  spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
};

Loggers& loggers() {
  static Loggers all;
  return all;
}

}  // namespace

spdlog::logger& logger(const std::string& module) {
  Loggers& all = loggers();
  const std::lock_guard lock(all.mutex);
  std::unique_ptr<spdlog::logger>& entry = all.by_module[module];
  if (!entry) {
    entry = std::make_unique<spdlog::logger>(module, all.sink);
    entry->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %n: %v");
    entry->set_level(all.level);
  }
  return *entry;
}

void set_log_level(spdlog::level::level_enum level) {
  Loggers& all = loggers();
  const std::lock_guard lock(all.mutex);
  all.level = level;
  for (auto& [name, entry] : all.by_module) {
    entry->set_level(level);
  }
}

}  // namespace fusefarm
