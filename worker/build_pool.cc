#include "worker/build_pool.h"

#include <array>
#include <cerrno>
#include <deque>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/posix_error.h"
#include "childlink/channel.h"
#include "childlink/compile_messages.h"

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;
using childlink::CompileReply;
using childlink::CompileStatus;

constexpr std::size_t kArtifactBytesMax = 8U << 20;
constexpr Duration kGrace = 5s;  // beyond the compiler's own limit: start, copy, reply
// Part of the key: another build recipe, another artifact.
constexpr std::uint64_t kRecipeVersion = 1;

Result<std::string> read_descriptor(int fd) {
  std::string bytes;
  std::array<char, 65536> chunk{};
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(fd, chunk.data(), chunk.size(), at);
    if (n < 0) {
      return posix_error("read an artifact", errno);
    }
    if (n == 0) {
      return bytes;
    }
    bytes.append(chunk.data(), static_cast<std::size_t>(n));
    at += n;
    if (bytes.size() > kArtifactBytesMax) {
      return Error{ErrorCode::kIntegrity, "an artifact is larger than its limit"};
    }
  }
}

// A sealed memfd of our own making: the child that sent the bytes keeps no hold on it.
Result<std::shared_ptr<const UniqueFd>> sealed(const std::string& bytes) {
  UniqueFd fd(::memfd_create("fusefarm-artifact", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() ||
      ::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
          0) {
    return posix_error("keep an artifact", errno);
  }
  return std::make_shared<const UniqueFd>(std::move(fd));
}

Verdict refusal(const CompileReply& reply) {
  Verdict verdict;
  verdict.klass = VerdictClass::kRejectBuild;
  verdict.detail = reply.diagnostics;
  switch (reply.status) {
    case CompileStatus::kTimeout:
      verdict.reason = "timeout";
      break;
    case CompileStatus::kResource:
      verdict.reason = "resource";
      break;
    default:
      verdict.reason = "error";
      break;
  }
  return verdict;
}

}  // namespace

struct BuildPool::Running {
  const Candidate* candidate;
  ChildProcess process;
  childlink::Channel channel;
  TimePoint deadline;
};

Digest BuildPool::key(const Candidate& candidate) const {
  DigestBuilder builder;
  builder.add(kRecipeVersion).add(toolchain_).add(candidate.source);
  builder.add(std::uint64_t{candidate.flags.size()});
  for (const std::string& flag : candidate.flags) {
    builder.add(flag);
  }
  return builder.finish();
}

const Artifact* BuildPool::find(const Candidate& candidate) const {
  const auto found = artifacts_.find(key(candidate));
  return found == artifacts_.end() ? nullptr : &found->second;
}

Result<void> BuildPool::build(const std::vector<const Candidate*>& candidates,
                              const std::function<bool()>& cancelled) {
  TRY(toolchain());
  std::deque<const Candidate*> waiting;
  for (const Candidate* candidate : candidates) {
    const Digest id = key(*candidate);
    if (artifacts_.contains(id)) {
      continue;
    }
    if (auto kept = from_folder(id)) {
      artifacts_.emplace(id, std::move(*kept));
      continue;
    }
    artifacts_.emplace(id, Artifact{});  // asked for: a second one of its kind is not built again
    waiting.push_back(candidate);
  }
  std::deque<Running> running;
  // On the way out nothing may stay known that was not built.
  const auto forget_unfinished = [&] {
    std::erase_if(artifacts_, [](const auto& entry) {
      return entry.second.object == nullptr && !entry.second.refused;
    });
  };
  while (!waiting.empty() || !running.empty()) {
    if (cancelled()) {
      forget_unfinished();
      return Error{ErrorCode::kCancelled, "cancelled while compiling"};
    }
    while (!waiting.empty() && running.size() < static_cast<std::size_t>(options_.processes)) {
      auto started = start(*waiting.front());
      if (!started.ok()) {
        forget_unfinished();
        return started.error();
      }
      running.push_back(started.take());
      waiting.pop_front();
    }
    // The oldest first; those behind it work on meanwhile.
    auto artifact = finish(running.front());
    if (!artifact.ok()) {
      forget_unfinished();
      return artifact.error();
    }
    const Digest id = key(*running.front().candidate);
    to_folder(id, *artifact);
    artifacts_[id] = artifact.take();
    running.pop_front();
  }
  return {};
}

Result<BuildPool::Running> BuildPool::start(const Candidate& candidate) const {
  SandboxedChild child =
      TRY(sandbox_->spawn(Profile::kCompiler, {"--folder", sandbox_->scratch_folder()},
                          {"PATH=/usr/bin:/bin", "LC_ALL=C"}, 0));
  const Duration limit =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options_.seconds_max));
  Running running{&candidate, std::move(child.process),
                  childlink::Channel(std::move(child.channel), *clock_),
                  clock_->now() + limit + kGrace};
  childlink::CompileRequest request;
  request.compiler = options_.compiler;
  request.source = candidate.source;
  request.flags = candidate.flags;
  request.seconds_max = options_.seconds_max;
  request.output_bytes_max = kArtifactBytesMax;
  TRY(running.channel.send(childlink::encode(request), {}, 10s));
  return running;
}

Result<Artifact> BuildPool::finish(Running& running) const {
  Artifact artifact;
  auto message = running.channel.receive(running.deadline - clock_->now());
  if (message.ok() && !message->has_value()) {
    artifact.refused = refusal({CompileStatus::kTimeout, "no reply from the compiler", 0});
    return artifact;
  }
  if (!message.ok()) {
    // The child is our own code around a compiler: only memory or its source can end it.
    artifact.refused = refusal({CompileStatus::kResource, message.error().message, 0});
    return artifact;
  }
  const CompileReply reply = TRY(childlink::compile_reply_from((*message)->text));
  artifact.seconds = reply.seconds;
  if (reply.status == CompileStatus::kHost) {
    return Error{ErrorCode::kEnvironment, "compiler: " + reply.diagnostics};
  }
  if (reply.status != CompileStatus::kBuilt) {
    artifact.refused = refusal(reply);
    return artifact;
  }
  if ((*message)->fds.size() != 1) {
    return Error{ErrorCode::kIntegrity, "a compiler child sent no artifact"};
  }
  artifact.bytes = TRY(read_descriptor((*message)->fds[0].get()));
  artifact.object = TRY(sealed(artifact.bytes));
  artifact.digest = digest_of(artifact.bytes);
  return artifact;
}

std::optional<Artifact> BuildPool::from_folder(const Digest& key) const {
  if (options_.cache_folder.empty()) {
    return std::nullopt;
  }
  auto bytes = read_file(options_.cache_folder + "/" + key.hex() + ".so", kArtifactBytesMax);
  if (!bytes.ok()) {
    return std::nullopt;
  }
  Artifact artifact;
  auto object = sealed(*bytes);
  if (!object.ok()) {
    return std::nullopt;
  }
  artifact.object = object.take();
  artifact.digest = digest_of(*bytes);
  artifact.bytes = bytes.take();
  return artifact;
}

void BuildPool::to_folder(const Digest& key, const Artifact& artifact) const {
  if (options_.cache_folder.empty() || artifact.object == nullptr) {
    return;
  }
  const std::string path = options_.cache_folder + "/" + key.hex() + ".so";
  const auto written = write_file_atomically(path, artifact.bytes);
  if (!written.ok()) {
    logger("worker").warn("artifact_not_kept path={} why=\"{}\"", path, written.error().message);
  }
}

Result<std::string> BuildPool::toolchain() {
  if (!toolchain_.empty()) {
    return toolchain_;
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return posix_error("open a pipe", errno);
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SpawnOptions spawn;
  spawn.argv = {options_.compiler, "--version"};
  spawn.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  spawn.fds = {{writer.get(), STDOUT_FILENO}};
  auto child = ChildProcess::spawn(spawn);
  if (!child.ok()) {
    return child.error().with_context("no compiler (install g++, or name one)");
  }
  writer.reset();
  std::array<char, 256> line{};
  const ssize_t n = ::read(reader.get(), line.data(), line.size());
  const auto status = child->wait(5s);
  const std::string text(line.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (!status || status->code != 0 || status->signal != 0 || text.empty()) {
    return Error{ErrorCode::kEnvironment, options_.compiler + " --version does not answer"};
  }
  toolchain_ = text.substr(0, text.find('\n'));
  return toolchain_;
}

}  // namespace fusefarm::worker
