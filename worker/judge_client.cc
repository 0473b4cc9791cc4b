#include "worker/judge_client.h"

#include <array>

#include <unistd.h>

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;
using childlink::JudgeReply;
using childlink::JudgeRequest;

constexpr int kChannelFd = 3;
constexpr Duration kAnswerDeadline = 300s;  // the oracle of a whole model takes seconds

}  // namespace

Result<JudgeClient> JudgeClient::start(const std::string& program_folder, const Clock& clock) {
  childlink::ChannelEnds ends = TRY(childlink::make_channel_ends());
  SpawnOptions spawn;
  spawn.argv = {program_folder + "/fusefarm-judge", "--channel", std::to_string(kChannelFd)};
  spawn.environment = {"LC_ALL=C"};
  // Trusted code: what it has to say in distress goes where ours goes.
  spawn.fds = {{ends.child.get(), kChannelFd}, {STDERR_FILENO, STDERR_FILENO}};
  ChildProcess process = TRY(ChildProcess::spawn(spawn));
  return JudgeClient(std::move(process), childlink::Channel(std::move(ends.parent), clock));
}

Result<JudgeReply> JudgeClient::ask(const JudgeRequest& request, std::span<const int> fds) {
  TRY(channel_.send(childlink::encode(request), fds, 10s));
  auto message = TRY(channel_.receive(kAnswerDeadline));
  if (!message) {
    return Error{ErrorCode::kUnavailable, "the judge does not answer"};
  }
  return childlink::judge_reply_from(message->text);
}

template <class Reply>
Result<Reply> JudgeClient::expect(const JudgeRequest& request, std::span<const int> fds) {
  auto reply = ask(request, fds);
  if (!reply.ok()) {
    return reply.error().with_context("judge");
  }
  if (auto* failed = std::get_if<childlink::Failed>(&*reply)) {
    return failed->error.with_context("judge");
  }
  if (auto* wanted = std::get_if<Reply>(&*reply)) {
    return std::move(*wanted);
  }
  return Error{ErrorCode::kInternal, "the judge answered something else than was asked"};
}

Result<void> JudgeClient::open_model(const childlink::OpenModel& model, int weights_fd) {
  TRY(expect<childlink::Done>(model, std::array{weights_fd}));
  return {};
}

Result<std::int64_t> JudgeClient::open_pool(const childlink::OpenPool& pool, int pool_fd,
                                            int boundary_fd) {
  return TRY(expect<childlink::PoolOpened>(pool, std::array{pool_fd, boundary_fd})).pool;
}

Result<void> JudgeClient::prepare(std::int64_t pool, const std::vector<int>& entries) {
  TRY(expect<childlink::Done>(childlink::Prepare{pool, entries}, {}));
  return {};
}

Result<childlink::Compared> JudgeClient::compare(std::int64_t pool, std::int64_t set, int entry) {
  return expect<childlink::Compared>(childlink::Compare{pool, set, entry}, {});
}

Result<childlink::ModelCompared> JudgeClient::compare_model(
    const childlink::CompareModel& request) {
  return expect<childlink::ModelCompared>(request, {});
}

Result<void> JudgeClient::close_pool(std::int64_t pool) {
  TRY(expect<childlink::Done>(childlink::ClosePool{pool}, {}));
  return {};
}

}  // namespace fusefarm::worker
