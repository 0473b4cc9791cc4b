#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/database.h"
#include "store/schema.h"
#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

class StoreFailureTest : public StoreTest {
 protected:
  Error open_error(const StoreOptions& options = {}) {
    const Result<std::unique_ptr<Store>> store = Store::open(path(), clock_, options);
    EXPECT_FALSE(store.ok());
    return store.ok() ? Error{ErrorCode::kInternal, "opened"} : store.error();
  }

  void write_file(const std::string& content) { std::ofstream(path()) << content; }

  std::size_t file_size() const { return std::filesystem::file_size(path()); }
};

TEST_F(StoreFailureTest, ASecondOwnerIsToldWhoHasIt) {
  const auto store = open();
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_NE(error.message.find("in use by process " + std::to_string(::getpid())),
            std::string::npos)
      << error.message;
}

TEST_F(StoreFailureTest, ReadersWorkBesideTheOwner) {
  const auto store = open();
  must(store->begin_or_resume_campaign(sample_spec(), digest_of("s")));
  const auto history = must(History::open(path()));
  EXPECT_EQ(must(history->campaigns()).size(), 1U);
  must(store->begin_or_resume_campaign(sample_spec("d"), digest_of("s")));
  EXPECT_EQ(must(history->campaigns()).size(), 2U);
}

TEST_F(StoreFailureTest, AReaderOfAMissingFileSaysSo) {
  const Result<std::unique_ptr<History>> history = History::open(path());
  ASSERT_FALSE(history.ok());
  EXPECT_EQ(history.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(StoreFailureTest, ATextFileIsNotTakenForADatabaseAndNotTouched) {
  write_file(std::string(5000, 'x'));
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::kIntegrity);
  EXPECT_NE(error.message.find(path()), std::string::npos);
  EXPECT_EQ(file_size(), 5000U);
}

TEST_F(StoreFailureTest, AnotherProgramsDatabaseIsRefused) {
  {
    const auto other = must(Database::open(path(), Database::Mode::kReadWrite));
    must(other->execute("CREATE TABLE t(a)"));
  }
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::kIntegrity);
  EXPECT_NE(error.message.find("another program"), std::string::npos);
}

TEST_F(StoreFailureTest, ANewerDatabaseIsRefusedByOwnerAndReader) {
  open().reset();
  {
    const auto raw = must(Database::open(path(), Database::Mode::kReadWrite));
    must(raw->execute("PRAGMA user_version = 99"));
  }
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::kIntegrity);
  EXPECT_NE(error.message.find("newer (version 99)"), std::string::npos) << error.message;
  const Result<std::unique_ptr<History>> history = History::open(path());
  ASSERT_FALSE(history.ok());
  EXPECT_EQ(history.error().message, error.message);
}

TEST_F(StoreFailureTest, AFileDamagedByACrashIsFoundAtTheNextStart) {
  {
    const auto store = open();
    for (int i = 0; i < 200; ++i) {
      must(store->save_candidate(numbered_candidate(i)));
    }
    must(store->flush());
  }
  {
    // Not stopped cleanly, and the middle of the file overwritten.
    const auto raw = must(Database::open(path(), Database::Mode::kReadWrite));
    must(raw->execute("UPDATE meta SET value = '0' WHERE key = 'clean_stop'"));
  }
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(file_size() / 2));
  file << std::string(8192, '\x5a');
  file.close();
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::kIntegrity);
  EXPECT_NE(error.message.find("restore a backup"), std::string::npos) << error.message;
}

TEST_F(StoreFailureTest, AFullDiskLosesNothingAndTheRunGoesOnWhenThereIsSpace) {
  StoreOptions options;
  options.pages_max = 60;
  CampaignId id;
  std::int64_t acknowledged = 0;
  {
    const auto store = open(options);
    id = must(store->begin_or_resume_campaign(sample_spec(), digest_of("s"))).id;
    const std::string payload = "\"" + std::string(2000, 'x') + "\"";
    Result<void> flushed;
    while (flushed.ok() && acknowledged < 1000) {
      must(store->append_decision(id, {acknowledged, "d", payload}));
      flushed = store->flush();
      acknowledged += flushed.ok() ? 1 : 0;
    }
    ASSERT_FALSE(flushed.ok());
    EXPECT_EQ(flushed.error().code, ErrorCode::kExhausted);
    EXPECT_NE(flushed.error().message.find("free space"), std::string::npos);
    // What is committed still answers.
    EXPECT_EQ(must(must(History::open(path()))->decisions(id)).size(),
              static_cast<std::size_t>(acknowledged));
  }
  const auto store = open();
  EXPECT_EQ(must(must(store->read())->decisions(id)).size(),
            static_cast<std::size_t>(acknowledged));
  must(store->append_decision(id, {acknowledged, "d", "{}"}));
  must(store->flush());
}

TEST_F(StoreFailureTest, ADiskFullAtTheStartIsExhaustion) {
  StoreOptions options;
  options.pages_max = 3;
  EXPECT_EQ(open_error(options).code, ErrorCode::kExhausted);
}

TEST_F(StoreFailureTest, AFolderThatIsAFileIsTheUsersToChange) {
  write_file("x");
  const Result<std::unique_ptr<Store>> store = Store::open(path() + "/history.db", clock_, {});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalidArgument);
}

// In a child, because root may write anywhere.
TEST_F(StoreFailureTest, AReadOnlyFolderIsTheUsersToChangeButCanBeRead) {
  open().reset();
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) {
      ::_exit(1);
    }
    const Result<std::unique_ptr<Store>> fresh = Store::open(folder_ + "/new.db", clock_, {});
    const bool refused = !fresh.ok() && fresh.error().code == ErrorCode::kInvalidArgument;
    const Result<std::unique_ptr<History>> history = History::open(path());
    ::_exit((refused ? 0 : 2) + (history.ok() && (*history)->campaigns().ok() ? 0 : 4));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(::chmod(folder_.c_str(), 0755), 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace fusefarm::store
