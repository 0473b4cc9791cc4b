#include "judge/serve.h"

#include <array>
#include <optional>
#include <span>

#include "base/log.h"
#include "childlink/channel.h"
#include "judge/judge_service.h"

namespace fusefarm::judge {
namespace {

using namespace std::chrono_literals;

childlink::JudgeReply reply_to(JudgeService& service, const childlink::Message& message) {
  const auto request = childlink::judge_request_from(message.text);
  if (!request.ok()) {
    return childlink::Failed{request.error()};
  }
  return service.handle(*request, message.fds);
}

}  // namespace

int serve(UniqueFd socket, const Clock& clock) {
  childlink::Channel channel(std::move(socket), clock);
  JudgeService service;
  for (;;) {
    // Bounded only so that no wait is endless; the end of the worker ends the channel at once.
    auto message = channel.receive(3600s);
    if (!message.ok()) {
      if (message.error().code == ErrorCode::kUnavailable) {
        return 0;
      }
      logger("judge").error("channel_failed error=\"{}\"", message.error().message);
      return 1;
    }
    if (!message->has_value()) {
      continue;
    }
    const auto sent = channel.send(childlink::encode(reply_to(service, **message)), {}, 60s);
    if (!sent.ok()) {
      return 1;
    }
  }
}

}  // namespace fusefarm::judge
