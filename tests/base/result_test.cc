#include "base/result.h"

#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

#include "base/posix_error.h"

namespace fusefarm {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) {
    return Error{ErrorCode::kInvalidArgument, std::to_string(value) + " is odd"};
  }
  return value / 2;
}

Result<int> quarter(int value) { return TRY(half(TRY(half(value)))); }

Result<void> check(int value) {
  TRY(half(value));
  return {};
}

TEST(ResultTest, TryHandsOnTheValueOrTheFirstError) {
  EXPECT_EQ(quarter(12).take(), 3);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_TRUE(check(2).ok());
  EXPECT_EQ(check(3).error().code, ErrorCode::kInvalidArgument);
}

TEST(ResultTest, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  EXPECT_EQ(*result.take(), 5);
}

TEST(ResultTest, ContextStandsBeforeTheMessage) {
  EXPECT_EQ(half(1).error().with_context("import a.json").message, "import a.json: 1 is odd");
}

TEST(ResultDeathTest, TheValueOfAnErrorAborts) {
  EXPECT_DEATH(half(1).take(), "1 is odd");
  EXPECT_DEATH(static_cast<void>(half(2).error()), "holds a value");
}

TEST(PosixErrorTest, SaysWhatToDoAboutAFullDisk) {
  const Error error = posix_error("write /data/x", ENOSPC);
  EXPECT_EQ(error.code, ErrorCode::kExhausted);
  EXPECT_NE(error.message.find("/data/x"), std::string::npos);
  EXPECT_NE(error.message.find("free space"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm
