#include "base/digest.h"

#include <gtest/gtest.h>

namespace fusefarm {
namespace {

TEST(DigestTest, IsBlake2bOf256Bits) {
  // BLAKE2b-256 of the empty string, as published with RFC 7693 implementations.
  EXPECT_EQ(digest_of(std::string_view("")).hex(),
            "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
}

TEST(DigestTest, HexIsReadBackAndAnythingElseIsRefused) {
  const Digest digest = digest_of(std::string_view("candidate"));
  EXPECT_EQ(Digest::from_hex(digest.hex()).take(), digest);
  EXPECT_FALSE(Digest::from_hex("00ff").ok());
  EXPECT_FALSE(Digest::from_hex(std::string(64, 'G')).ok());
  EXPECT_FALSE(Digest::from_hex(std::string(32, '0') + std::string(32, 'A')).ok());
}

TEST(DigestTest, FieldBordersAreContent) {
  const Digest one = DigestBuilder().add("ab").add("c").finish();
  const Digest two = DigestBuilder().add("a").add("bc").finish();
  EXPECT_NE(one, two);
}

}  // namespace
}  // namespace fusefarm
