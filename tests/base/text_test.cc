#include "base/text.h"

#include <gtest/gtest.h>

namespace fusefarm {
namespace {

TEST(TextTest, OnlyPlainWholeNumbersAreIntegers) {
  EXPECT_EQ(parse_int("0").take(), 0);
  EXPECT_EQ(parse_int("-12").take(), -12);
  EXPECT_EQ(parse_int("9223372036854775807").take(), INT64_MAX);
  for (const char* bad : {"", "-", "+1", "010", "-01", "1.0", "1e3", " 1", "1 ", "0x10",
                          "9223372036854775808", "eight"}) {
    EXPECT_FALSE(parse_int(bad).ok()) << bad;
  }
}

TEST(TextTest, OnlyFiniteNumbersAreReals) {
  EXPECT_DOUBLE_EQ(parse_double("1e-3").take(), 0.001);
  for (const char* bad : {"", "nan", "inf", "1e999", "1,5", "0.1x"}) {
    EXPECT_FALSE(parse_double(bad).ok()) << bad;
  }
}

TEST(TextTest, ATypingErrorFindsItsName) {
  const std::vector<std::string> known{"workloads", "parallel", "search"};
  EXPECT_EQ(nearest_name("worklaods", known), "workloads");
  EXPECT_EQ(nearest_name("paralel", known), "parallel");
  EXPECT_EQ(nearest_name("store", known), "");
}

TEST(TextTest, SplitKeepsEmptyPartsAndJoinUndoesIt) {
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

}  // namespace
}  // namespace fusefarm
