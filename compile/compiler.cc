#include "compile/compiler.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/posix_error.h"
#include "compile/limited_process.h"

namespace fusefarm::compile {
namespace {

using childlink::CompileRequest;
using childlink::CompileStatus;

Compiled ended(CompileStatus status, std::string diagnostics, double spent = 0) {
  return {{status, std::move(diagnostics), spent}, {}};
}

// The file's bytes as a descriptor that nobody can change any more.
Result<UniqueFd> sealed_copy(const std::string& path, std::int64_t bytes_max) {
  const std::string bytes = TRY(read_file(path, static_cast<std::size_t>(bytes_max)));
  UniqueFd fd(::memfd_create("fusefarm-artifact", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) {
    return posix_error("create an artifact", errno);
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::write(fd.get(), bytes.data() + written, bytes.size() - written);
    if (n < 0) {
      return posix_error("write an artifact", errno);
    }
    written += static_cast<std::size_t>(n);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
      0) {
    return posix_error("seal an artifact", errno);
  }
  return fd;
}

bool mentions(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

// What the compiler says when it hits one of its limits rather than a mistake in the source.
bool out_of_resources(const ProcessEnd& end) {
  return end.signal == SIGKILL || end.signal == SIGXFSZ || mentions(end.output, "out of memory") ||
         mentions(end.output, "Killed signal") ||
         mentions(end.output, "virtual memory exhausted") ||
         mentions(end.output, "cannot allocate memory") ||
         mentions(end.output, "Cannot allocate memory") ||
         mentions(end.output, "File size limit exceeded") ||
         mentions(end.output, "File too large") || mentions(end.output, "No space left on device");
}

}  // namespace

std::vector<std::string> compiler_arguments(const CompileRequest& request,
                                            const std::string& source, const std::string& output) {
  std::vector<std::string> arguments{request.compiler};
  arguments.insert(arguments.end(), request.flags.begin(), request.flags.end());
  const std::vector<std::string> own{
      "-std=c++20", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti",
      "-fno-asynchronous-unwind-tables", "-fno-semantic-interposition", "-fno-stack-protector",
      "-fcf-protection=none", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
      "-fmax-errors=8", "-ftemplate-depth=256", "-fno-diagnostics-color", "-w", "-g0",
      // No start files: they bring constructors, which an artifact may not have.
      "-nostartfiles", "-Wl,-z,relro,-z,now,-z,noexecstack", "-Wl,--build-id=none",
      "-Wl,--as-needed", "-x", "c++", source, "-o", output};
  arguments.insert(arguments.end(), own.begin(), own.end());
  return arguments;
}

Compiled compile_source(const CompileRequest& request, const std::string& folder,
                        const Clock& clock) {
  const TimePoint start = clock.now();
  if (::access(request.compiler.c_str(), X_OK) != 0) {
    return ended(CompileStatus::kHost, "there is no compiler at " + request.compiler);
  }
  const std::string source = folder + "/candidate.cc";
  const std::string output = folder + "/candidate.so";
  if (auto written = write_file_atomically(source, request.source); !written.ok()) {
    return ended(CompileStatus::kHost, written.error().message);
  }
  const ProcessLimits limits{.wall = std::chrono::duration_cast<Duration>(
                                 std::chrono::duration<double>(request.seconds_max)),
                             .cpu_seconds = static_cast<std::uint64_t>(request.seconds_max) + 1,
                             .memory_bytes = static_cast<std::uint64_t>(request.memory_bytes_max),
                             .file_bytes = static_cast<std::uint64_t>(request.output_bytes_max)};
  const auto process =
      run_limited(compiler_arguments(request, source, output), folder, limits, clock);
  const double spent = seconds(clock.now() - start);
  if (!process.ok()) {
    return ended(CompileStatus::kHost, process.error().message, spent);
  }
  if (process->timed_out || process->signal == SIGXCPU ||
      mentions(process->output, "CPU time limit exceeded")) {
    return ended(CompileStatus::kTimeout, "the compiler ran longer than its limit", spent);
  }
  if (process->signal != 0 || process->exit_code != 0) {
    const auto status =
        out_of_resources(*process) ? CompileStatus::kResource : CompileStatus::kError;
    return ended(status, process->output, spent);
  }
  auto artifact = sealed_copy(output, request.output_bytes_max);
  if (!artifact.ok()) {
    return ended(CompileStatus::kResource, artifact.error().message, spent);
  }
  return {{CompileStatus::kBuilt, process->output, spent}, artifact.take()};
}

}  // namespace fusefarm::compile
