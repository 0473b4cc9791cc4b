// Whole-file I/O with the errors a user can act on.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fusefarm {

// At most `bytes_max`; larger is an error, not a truncation.
Result<std::string> read_file(const std::string& path, std::size_t bytes_max = 64U << 20);

// Written beside, synced, renamed: a reader sees the old content or the new one, never a part.
Result<void> write_file_atomically(const std::string& path, std::string_view content);

Result<void> make_directories(const std::string& path);

}  // namespace fusefarm
