// Any text: an error, or a candidate that its own JSON gives back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "records/candidate_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fusefarm::Result<fusefarm::Candidate> candidate = fusefarm::candidate_from_json(text);
  if (!candidate.ok()) {
    return 0;
  }
  const std::string written = fusefarm::to_json(*candidate);
  const fusefarm::Result<fusefarm::Candidate> again = fusefarm::candidate_from_json(written);
  FUSEFARM_CHECK(again.ok(), written);
  FUSEFARM_CHECK(again->digest() == candidate->digest(), written);
  FUSEFARM_CHECK(fusefarm::to_json(*again) == written, written);
  return 0;
}
