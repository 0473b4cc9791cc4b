#include "records/measurement_json.h"

#include "records/json_fields.h"

namespace fusefarm {
namespace internal {
namespace {

// A quad as columns, because there are thousands: "arms": "ICCI", "ns": [4], "launches": [4].
Json encode(const Quad& quad) {
  std::string arms;
  Json nanoseconds = Json::array();
  Json launches = Json::array();
  for (const Slot& slot : quad.slots) {
    arms += slot.arm == Arm::kIncumbent ? 'I' : 'C';
    nanoseconds.push_back(slot.nanoseconds);
    launches.push_back(slot.launches);
  }
  return Json{{"arms", arms},
              {"ns", nanoseconds},
              {"launches", launches},
              {"discarded", quad.discarded},
              {"discard_reason", quad.discard_reason}};
}

Quad decode_quad(JsonObject& object) {
  Quad quad;
  const std::string arms = object.text("arms", 4);
  const std::vector<std::int64_t> nanoseconds = object.integers("ns", 4);
  const std::vector<std::int64_t> launches = object.integers("launches", 4);
  quad.discarded = object.boolean("discarded");
  quad.discard_reason = object.text("discard_reason");
  if (arms.size() != 4 || nanoseconds.size() != 4 || launches.size() != 4 ||
      arms.find_first_not_of("IC") != std::string::npos) {
    object.report("a quad has four arms (I or C), four times and four launch counts");
    return quad;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if (launches[i] < 1 || launches[i] > std::numeric_limits<std::int32_t>::max()) {
      object.report(std::to_string(launches[i]) + " is no count of launches");
      return quad;
    }
    quad.slots[i] = Slot{arms[i] == 'I' ? Arm::kIncumbent : Arm::kCandidate, nanoseconds[i],
                         static_cast<std::int32_t>(launches[i])};
  }
  return quad;
}

Json encode(const Block& block) {
  Json quads = Json::array();
  for (const Quad& quad : block.quads) {
    quads.push_back(encode(quad));
  }
  return Json{{"incumbent_loaded_first", block.incumbent_loaded_first}, {"quads", quads}};
}

Block decode_block(JsonObject& object) {
  Block block;
  block.incumbent_loaded_first = object.boolean("incumbent_loaded_first");
  block.quads = object.objects("quads", 1 << 20, decode_quad);
  return block;
}

}  // namespace

Json to_value(const Interval& interval) {
  return Json{{"estimate", encode_real(interval.estimate)},
              {"lo", encode_real(interval.lo)},
              {"hi", encode_real(interval.hi)}};
}

Interval decode_interval(JsonObject& object) {
  return Interval{object.real("estimate"), object.real("lo"), object.real("hi")};
}

Json to_value(const PairedMeasurement& measurement) {
  Json blocks = Json::array();
  for (const Block& block : measurement.blocks) {
    blocks.push_back(encode(block));
  }
  return Json{{"stage", measurement.stage}, {"blocks", blocks}};
}

PairedMeasurement decode_measurement(JsonObject& object) {
  PairedMeasurement measurement;
  measurement.stage = object.text("stage", 64);
  measurement.blocks = object.objects("blocks", 1 << 16, decode_block);
  return measurement;
}

}  // namespace internal

std::string to_json(const PairedMeasurement& measurement) {
  return internal::dump(internal::to_value(measurement));
}

Result<PairedMeasurement> measurement_from_json(std::string_view text) {
  return internal::decode_part(text, "measurement", internal::decode_measurement);
}

std::string to_json(const Interval& interval) {
  return internal::dump(internal::to_value(interval));
}

Result<Interval> interval_from_json(std::string_view text) {
  return internal::decode_part(text, "interval", internal::decode_interval);
}

}  // namespace fusefarm
