// Any bytes: damage, or samples that pack to the same bytes again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/samples.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view blob(reinterpret_cast<const char*>(data), size);
  const fusefarm::Result<fusefarm::PairedMeasurement> samples =
      fusefarm::store::unpack_samples(blob, "fuzz");
  if (!samples.ok()) {
    return 0;
  }
  const fusefarm::Result<fusefarm::PairedMeasurement> again =
      fusefarm::store::unpack_samples(fusefarm::store::pack_samples(*samples), "fuzz");
  FUSEFARM_CHECK(again.ok(), "repacked");
  FUSEFARM_CHECK(fusefarm::store::pack_samples(*again) == fusefarm::store::pack_samples(*samples),
                 "");
  return 0;
}
