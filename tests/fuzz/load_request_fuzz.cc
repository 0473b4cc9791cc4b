#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "childlink/program_codec.h"
#include "childlink/runner_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto request = fusefarm::childlink::load_request_from(text);
  if (request.ok() && !fusefarm::childlink::check_program(request->program).ok()) {
    std::abort();  // what was read must be what the executor may trust
  }
  return 0;
}
