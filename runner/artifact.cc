#include "runner/artifact.h"

#include <bit>

#include <dlfcn.h>

namespace fusefarm::runner {

Result<Artifact> Artifact::load(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return Error{ErrorCode::kInvalidArgument,
                 std::string("load an artifact: ") + (why == nullptr ? "unknown" : why)};
  }
  return Artifact(handle);
}

Result<Entry> Artifact::entry(const std::string& name) const {
  void* symbol = ::dlsym(handle_.get(), name.c_str());
  if (symbol == nullptr) {
    return Error{ErrorCode::kNotFound, "an artifact has no entry '" + name + "'"};
  }
  return Entry{std::bit_cast<decltype(Entry::call)>(symbol)};
}

void Artifact::Close::operator()(void* handle) const { ::dlclose(handle); }

}  // namespace fusefarm::runner
