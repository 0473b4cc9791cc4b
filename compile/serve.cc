#include "compile/serve.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "childlink/channel.h"
#include "childlink/compile_messages.h"
#include "compile/compiler.h"

namespace fusefarm::compile {

using namespace std::chrono_literals;

int serve(UniqueFd socket, const std::string& folder, const Clock& clock) {
  childlink::Channel channel(std::move(socket), clock);
  auto message = channel.receive(60s);
  if (!message.ok() || !message->has_value()) {
    return 3;
  }
  const auto request = childlink::compile_request_from((*message)->text);
  Compiled compiled;
  // A folder of one's own, although the sandbox's is private: without a sandbox it is not.
  std::string own = folder + "/fusefarm-XXXXXX";
  if (::mkdtemp(own.data()) == nullptr) {
    compiled.reply.diagnostics = "can't make a folder in " + folder;
  } else if (request.ok()) {
    compiled = compile_source(*request, own, clock);
    std::error_code ignored;
    std::filesystem::remove_all(own, ignored);
  } else {
    compiled.reply.diagnostics = request.error().message;
  }
  const std::array fds{compiled.artifact.get()};
  const std::span<const int> sent(fds.data(), compiled.artifact.valid() ? 1 : 0);
  return channel.send(childlink::encode(compiled.reply), sent, 10s).ok() ? 0 : 3;
}

}  // namespace fusefarm::compile
