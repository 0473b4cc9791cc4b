// The one place where errno becomes an Error.
#pragma once

#include <string>

#include "base/result.h"

namespace fusefarm {

// "open /x/y: No space left on device (free space on that file system and run again)".
Error posix_error(const std::string& what, int errno_value);

}  // namespace fusefarm
