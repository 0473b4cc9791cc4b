#include <cstddef>
#include <cstdint>
#include <string_view>

#include "childlink/judge_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)fusefarm::childlink::judge_request_from(text).ok();
  return 0;
}
