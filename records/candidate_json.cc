#include "records/candidate_json.h"

#include "records/json_fields.h"

namespace fusefarm {
namespace {

const std::vector<std::string>& source_kinds() {  // by SourceKind
  static const std::vector<std::string> names{"cpp"};
  return names;
}

Candidate decode(internal::JsonObject& object) {
  Candidate candidate;
  candidate.kind = static_cast<SourceKind>(object.one_of("source_kind", source_kinds()));
  candidate.region = object.digest("region");
  candidate.source = object.text("source", kSourceBytesMax);
  candidate.flags = object.texts("flags", kFlagsMax);
  candidate.plan = object.object("plan", internal::decode_launch_plan);
  candidate.origin = object.text("origin", 64);
  candidate.family = object.text("family", 128);
  candidate.schedule = object.integers_by_name("schedule");
  candidate.deterministic = object.boolean("deterministic");
  return candidate;
}

}  // namespace

std::string to_json(const Candidate& candidate) {
  return internal::dump(
      {{"version", kCandidateVersion},
       {"source_kind", source_kinds().at(static_cast<std::size_t>(candidate.kind))},
       {"region", candidate.region.hex()},
       {"source", candidate.source},
       {"flags", candidate.flags},
       {"plan", internal::to_value(candidate.plan)},
       {"origin", candidate.origin},
       {"family", candidate.family},
       {"schedule", candidate.schedule},
       {"deterministic", candidate.deterministic}});
}

Result<Candidate> candidate_from_json(std::string_view text) {
  return internal::decode_document(text, "candidate", kCandidateVersion, decode);
}

}  // namespace fusefarm
