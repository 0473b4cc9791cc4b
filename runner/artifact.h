// A candidate's shared object in this process.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace fusefarm::runner {

// The CPU entry ABI (records/launch_plan.h).
struct FfTensor {
  void* data;
  long row_stride;  // in elements
};

struct FfArgs {
  const FfTensor* tensors;
  const long* dims;
};

struct Entry {
  void (*call)(const FfArgs* args, long block) = nullptr;
};

class Artifact {
 public:
  // Loads the object behind a descriptor, with all its symbols resolved now and none visible to
  // other objects. Error: kInvalidArgument with the loader's words.
  static Result<Artifact> load(int fd);
  // Error: kNotFound.
  Result<Entry> entry(const std::string& name) const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };

  explicit Artifact(void* handle) : handle_(handle) {}

  std::unique_ptr<void, Close> handle_;
};

}  // namespace fusefarm::runner
