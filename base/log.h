// One logger a module, lines of `event_name key=value`. error: someone must act; warn: odd but
// handled; info: life of campaigns and workers; debug: single candidates.
#pragma once

#include <memory>
#include <string>

#include <spdlog/spdlog.h>

namespace fusefarm {

// Thread-safe. Writes to stderr: stdout belongs to command output.
spdlog::logger& logger(const std::string& module);

// "debug", "info", "warn", "error"; applies to loggers made before and after.
void set_log_level(spdlog::level::level_enum level);

}  // namespace fusefarm
