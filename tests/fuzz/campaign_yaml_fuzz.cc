// Any text: a campaign that keeps what the format promises, or an error that names the source.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "configs/campaign_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fusefarm::Result<fusefarm::CampaignSpec> spec =
      fusefarm::configs::parse_campaign(text, "fuzz.yaml");
  if (!spec.ok()) {
    FUSEFARM_CHECK(spec.error().message.starts_with("fuzz.yaml:"), spec.error().message);
    return 0;
  }
  double sum = 0;
  for (const fusefarm::Workload& workload : spec->workloads) {
    FUSEFARM_CHECK(workload.batch > 0 && workload.tokens > 0 && workload.weight > 0, workload.name);
    sum += workload.weight;
  }
  FUSEFARM_CHECK(std::abs(sum - 1) < 1e-9, std::to_string(sum));
  return 0;
}
