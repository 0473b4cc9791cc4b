#include "base/digest.h"

#include <cstring>

#include <blake2.h>

#include "base/check.h"

namespace fusefarm {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return -1;
}

}  // namespace

std::string Digest::hex() const {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

std::uint64_t Digest::prefix() const {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

Result<Digest> Digest::from_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() != digest.bytes.size() * 2) {
    return Error{ErrorCode::kInvalidArgument,
                 "a digest has 64 hex digits, got '" + std::string(hex.substr(0, 80)) + "'"};
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return Error{ErrorCode::kInvalidArgument,
                   "not lower-case hex: '" + std::string(hex.substr(0, 80)) + "'"};
    }
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

Digest digest_of(std::span<const std::byte> content) {
  Digest digest;
  const int rc =
      blake2b(digest.bytes.data(), content.data(), nullptr, digest.bytes.size(), content.size(), 0);
  FUSEFARM_CHECK(rc == 0, "blake2b refused its arguments");
  return digest;
}

Digest digest_of(std::string_view content) {
  return digest_of(std::as_bytes(std::span(content.data(), content.size())));
}

DigestBuilder& DigestBuilder::add(std::string_view field) {
  add(std::uint64_t{field.size()});
  buffer_.append(field);
  return *this;
}

DigestBuilder& DigestBuilder::add(std::uint64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  buffer_.append(raw, sizeof raw);
  return *this;
}

DigestBuilder& DigestBuilder::add(const Digest& digest) {
  buffer_.append(digest.bytes.begin(), digest.bytes.end());
  return *this;
}

}  // namespace fusefarm
