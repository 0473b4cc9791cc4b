#include "runner/serve.h"

#include <csignal>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "childlink/channel.h"
#include "childlink/control_page.h"
#include "childlink/runner_messages.h"
#include "runner/executor.h"
#include "runner/system_call_filter.h"
#include "runner/team.h"

namespace fusefarm::runner {
namespace {

using namespace std::chrono_literals;
using childlink::Channel;
using childlink::LoadFailed;
using childlink::LoadFault;

constexpr int kExitFailedLoad = 3;
constexpr int kExitBadRequest = 4;
constexpr int kExitNoFilter = 5;

// Sleeps until the worker's end of the channel is closed, then ends the process at once.
void exit_with_parent(int fd, std::latch& up) {
  up.count_down();
  for (;;) {
    pollfd entry{fd, POLLRDHUP, 0};
    if (::poll(&entry, 1, -1) > 0 && (entry.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) {
      ::_exit(0);
    }
  }
}

int fail(Channel& channel, LoadFault fault, const std::string& message) {
  // Best effort: whoever asked may be gone.
  if (!channel.send(childlink::encode(LoadFailed{fault, message}), {}, 5s).ok()) {
    return kExitBadRequest;
  }
  return kExitFailedLoad;
}

struct Request {
  childlink::LoadRequest load;
  UniqueFd control, boundary, weights;
  std::vector<UniqueFd> artifacts;
};

Result<Request> receive_request(Channel& channel) {
  std::optional<childlink::Message> message = TRY(channel.receive(60s));
  if (!message) {
    return Error{ErrorCode::kUnavailable, "no load request came"};
  }
  Request request;
  request.load = TRY(childlink::load_request_from(message->text));
  const std::size_t fixed = request.load.program.weight_bytes > 0 ? 3 : 2;
  if (message->fds.size() != fixed + request.load.program.artifacts.size()) {
    return Error{ErrorCode::kIntegrity, "a load request has the wrong number of descriptors"};
  }
  request.control = std::move(message->fds[0]);
  request.boundary = std::move(message->fds[1]);
  if (fixed == 3) {
    request.weights = std::move(message->fds[2]);
  }
  for (std::size_t i = fixed; i < message->fds.size(); ++i) {
    request.artifacts.push_back(std::move(message->fds[i]));
  }
  return request;
}

[[noreturn]] void obey(Executor& executor, childlink::ControlPage& page) {
  std::uint32_t seen = 0;
  for (;;) {
    const std::uint32_t sequence = page.sequence.load(std::memory_order_seq_cst);
    if (sequence == seen) {
      childlink::futex_wait(page.sequence, seen, 3600s);
      continue;
    }
    seen = sequence;
    const bool ran = executor.run(childlink::read_command(page));
    page.status.store(ran ? 0 : 1, std::memory_order_relaxed);
    page.done.store(seen, std::memory_order_seq_cst);
    childlink::futex_wake_all(page.done);
  }
}

int load_and_obey(Channel& channel, Request request, const Clock& clock) {
  auto team = Team::start(request.load.threads, request.load.cores);
  if (!team.ok()) {
    return fail(channel, LoadFault::kHost, team.error().message);
  }
  auto mapping = childlink::ControlMapping::map(request.control.get());
  if (!mapping.ok()) {
    return fail(channel, LoadFault::kProgram, mapping.error().message);
  }
  std::vector<int> artifacts;
  for (const UniqueFd& fd : request.artifacts) {
    artifacts.push_back(fd.get());
  }
  Executor::Failure failure;
  const auto executor = Executor::load(std::move(request.load.program),
                                       {request.boundary.get(), request.weights.get()}, artifacts,
                                       **team, clock, failure);
  if (executor == nullptr) {
    return fail(channel, failure.fault, failure.message);
  }
  childlink::Loaded report = executor->report();
  report.filtered = has_compute_only_mode();
  if (!channel.send(childlink::encode(report), {}, 5s).ok()) {
    return kExitBadRequest;
  }
  // Candidate code finds no descriptor that leads anywhere but to its own worker.
  request = {};
  // A thread's start makes system calls that the filter refuses: wait until it is through them.
  std::latch up(1);
  const std::jthread watcher(exit_with_parent, channel.fd(), std::ref(up));
  up.wait();
  if (!enter_compute_only_mode().ok()) {
    ::_exit(kExitNoFilter);
  }
  obey(*executor, mapping->page());
}

}  // namespace

int serve(UniqueFd socket, const Clock& clock) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Channel channel(std::move(socket), clock);
  Result<Request> request = receive_request(channel);
  if (!request.ok()) {
    return fail(channel, LoadFault::kProgram, request.error().message);
  }
  return load_and_obey(channel, request.take(), clock);
}

}  // namespace fusefarm::runner
