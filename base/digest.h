// Content addresses. BLAKE2b-256 (RFC 7693, through libb2): candidates choose their content, so
// collisions must be infeasible.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusefarm {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  friend auto operator<=>(const Digest&, const Digest&) = default;

  std::string hex() const;  // 64 characters

  std::string short_hex() const { return hex().substr(0, 12); }

  std::uint64_t prefix() const;  // first 8 bytes, for keyed draws
  static Result<Digest> from_hex(std::string_view hex);
};

Digest digest_of(std::string_view content);
Digest digest_of(std::span<const std::byte> content);

// Digest of several fields; lengths are part of it, so ("ab","c") and ("a","bc") differ.
class DigestBuilder {
 public:
  DigestBuilder& add(std::string_view field);
  DigestBuilder& add(std::uint64_t value);
  DigestBuilder& add(const Digest& digest);

  Digest finish() const { return digest_of(std::string_view(buffer_)); }

 private:
  std::string buffer_;
};

}  // namespace fusefarm
