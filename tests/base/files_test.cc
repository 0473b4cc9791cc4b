#include "base/files.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace fusefarm {
namespace {

class FilesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_directories(folder_).ok()); }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "/files_test_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FilesTest, WrittenContentIsReadBackAndNothingIsLeftBeside) {
  const std::string path = folder_ + "/a.txt";
  ASSERT_TRUE(write_file_atomically(path, "first").ok());
  ASSERT_TRUE(write_file_atomically(path, "second").ok());
  EXPECT_EQ(read_file(path).take(), "second");
  const auto files = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(FilesTest, AMissingFileIsNotFoundAndIsNamed) {
  const Result<std::string> read = read_file(folder_ + "/none");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_NE(read.error().message.find(folder_ + "/none"), std::string::npos);
}

TEST_F(FilesTest, AFileBeyondTheLimitIsRefusedAndNotCut) {
  const std::string path = folder_ + "/long";
  ASSERT_TRUE(write_file_atomically(path, std::string(100, 'x')).ok());
  EXPECT_TRUE(read_file(path, 100).ok());
  EXPECT_EQ(read_file(path, 99).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(FilesTest, AFailedWriteKeepsTheOldContent) {
  EXPECT_FALSE(write_file_atomically(folder_ + "/no/such/folder/a", "x").ok());
  EXPECT_FALSE(write_file_atomically(folder_, "x").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace fusefarm
