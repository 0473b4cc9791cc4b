// One process owns a store. Held by flock on a file beside it, so that it ends with the process,
// however that ends. Internal to store.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace fusefarm::store {

class OwnerLock {
 public:
  // kUnavailable when another process holds it; the error names that process.
  static Result<OwnerLock> take(const std::string& database_path);

 private:
  explicit OwnerLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace fusefarm::store
