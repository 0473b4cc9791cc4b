#include "store/samples.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace fusefarm::store {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs are little-endian");

// v1: u8 version, u32 blocks; block: u8 incumbent loaded first, u32 quads;
// quad: u8 flags, 4 x (u32 launches, u32 or i64 ns), and with kDiscarded u16 length, reason.
// Low four flag bits: arm of slot i is the candidate.
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kWide = 1U << 4;  // times don't fit 32 bits
constexpr std::uint8_t kDiscarded = 1U << 5;
constexpr std::size_t kReasonMax = std::numeric_limits<std::uint16_t>::max();

template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_integral_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value{};
    if (rest_.size() < sizeof(T)) {
      short_ = true;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }

  std::string text(std::size_t size) {
    if (rest_.size() < size) {
      short_ = true;
      rest_ = {};
      return {};
    }
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }

  bool ran_short() const { return short_; }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool short_ = false;
};

void put_quad(std::string& out, const Quad& quad) {
  std::uint8_t flags = quad.discarded ? kDiscarded : 0;
  for (unsigned i = 0; i < 4; ++i) {
    const Slot& slot = quad.slots[i];
    flags |= static_cast<std::uint8_t>(static_cast<unsigned>(slot.arm) << i);
    if (slot.nanoseconds < 0 || slot.nanoseconds > std::numeric_limits<std::uint32_t>::max()) {
      flags |= kWide;
    }
  }
  put(out, flags);
  for (const Slot& slot : quad.slots) {
    put(out, slot.launches);
    if ((flags & kWide) != 0) {
      put(out, slot.nanoseconds);
    } else {
      put(out, static_cast<std::uint32_t>(slot.nanoseconds));
    }
  }
  if (quad.discarded) {
    const std::string reason = quad.discard_reason.substr(0, kReasonMax);
    put(out, static_cast<std::uint16_t>(reason.size()));
    out += reason;
  }
}

Quad get_quad(Cursor& cursor) {
  Quad quad;
  const auto flags = cursor.get<std::uint8_t>();
  for (unsigned i = 0; i < 4; ++i) {
    Slot& slot = quad.slots[i];
    slot.arm = static_cast<Arm>((flags >> i) & 1U);
    slot.launches = cursor.get<std::int32_t>();
    slot.nanoseconds =
        (flags & kWide) != 0 ? cursor.get<std::int64_t>() : cursor.get<std::uint32_t>();
  }
  quad.discarded = (flags & kDiscarded) != 0;
  if (quad.discarded) {
    quad.discard_reason = cursor.text(cursor.get<std::uint16_t>());
  }
  return quad;
}

Error damaged(const std::string& stage) {
  return {ErrorCode::kIntegrity, "raw samples of stage " + stage + " are damaged"};
}

}  // namespace

std::string pack_samples(const PairedMeasurement& measurement) {
  std::string out;
  put(out, kVersion);
  put(out, static_cast<std::uint32_t>(measurement.blocks.size()));
  for (const Block& block : measurement.blocks) {
    put(out, static_cast<std::uint8_t>(block.incumbent_loaded_first));
    put(out, static_cast<std::uint32_t>(block.quads.size()));
    for (const Quad& quad : block.quads) {
      put_quad(out, quad);
    }
  }
  return out;
}

Result<PairedMeasurement> unpack_samples(std::string_view blob, const std::string& stage) {
  Cursor cursor(blob);
  if (cursor.get<std::uint8_t>() != kVersion) {
    return damaged(stage);
  }
  PairedMeasurement measurement{stage, {}};
  const auto blocks = cursor.get<std::uint32_t>();
  for (std::uint32_t b = 0; b < blocks && !cursor.ran_short(); ++b) {
    Block& block = measurement.blocks.emplace_back();
    block.incumbent_loaded_first = cursor.get<std::uint8_t>() != 0;
    const auto quads = cursor.get<std::uint32_t>();
    for (std::uint32_t q = 0; q < quads && !cursor.ran_short(); ++q) {
      block.quads.push_back(get_quad(cursor));
    }
  }
  if (cursor.ran_short() || !cursor.at_end()) {
    return damaged(stage);
  }
  return measurement;
}

}  // namespace fusefarm::store
