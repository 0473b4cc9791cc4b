// Any text: an error, or a launch plan that its own JSON gives back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "records/launch_plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fusefarm::Result<fusefarm::LaunchPlan> plan = fusefarm::launch_plan_from_json(text);
  if (!plan.ok()) {
    return 0;
  }
  const std::string written = fusefarm::to_json(*plan);
  const fusefarm::Result<fusefarm::LaunchPlan> again = fusefarm::launch_plan_from_json(written);
  FUSEFARM_CHECK(again.ok() && *again == *plan, written);
  return 0;
}
