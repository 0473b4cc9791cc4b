#include "store/writer.h"

#include <atomic>

#include <gtest/gtest.h>

#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

class WriterTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    database_ = must(Database::open(path(), Database::Mode::kReadWrite));
    must(database_->execute("CREATE TABLE t(value INTEGER) STRICT"));
  }

  static Writer::Write insert(std::int64_t value) {
    return [value](Database& database) -> Result<void> {
      return TRY(database.prepare("INSERT INTO t VALUES(?)")).bind(value).run();
    };
  }

  std::vector<std::int64_t> values() const {
    const auto reader = must(Database::open(path(), Database::Mode::kReadOnly));
    Statement select = must(reader->prepare("SELECT value FROM t ORDER BY rowid"));
    std::vector<std::int64_t> out;
    while (must(select.step())) {
      out.push_back(select.integer(0));
    }
    return out;
  }

  std::unique_ptr<Database> database_;
};

TEST_F(WriterTest, WritesAreDurableInOrderAfterFlush) {
  Writer writer(std::move(database_), {});
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 1000; ++i) {
    must(writer.push(insert(i)));
    expected.push_back(i);
  }
  must(writer.flush());
  EXPECT_EQ(values(), expected);
}

TEST_F(WriterTest, ManyThreadsPastABoundedQueueLoseNothing) {
  StoreOptions options;
  options.queue_max = 4;
  options.batch_max = 3;
  Writer writer(std::move(database_), options);
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      for (std::int64_t i = 0; i < 100; ++i) {
        must(writer.push(insert(t * 1000 + i)));
      }
      must(writer.flush());
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(values().size(), 400U);
}

TEST_F(WriterTest, AWriteGetsDurableWithoutFlush) {
  Writer writer(std::move(database_), {});
  std::atomic<bool> seen = false;
  must(writer.push([&seen](Database&) -> Result<void> {
    seen = true;
    seen.notify_all();
    return {};
  }));
  seen.wait(false);
  EXPECT_TRUE(seen);
}

TEST_F(WriterTest, WantOfSpaceIsReportedAndTriedAgainInOrder) {
  std::atomic<bool> full = true;
  Writer writer(std::move(database_), {});
  must(writer.push(insert(1)));
  must(writer.push([&full](Database&) -> Result<void> {
    if (full) {
      return Error{ErrorCode::kExhausted, "no space"};
    }
    return {};
  }));
  must(writer.push(insert(2)));
  const Result<void> failed = writer.flush();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kExhausted);
  const Result<void> again = writer.flush();
  EXPECT_FALSE(again.ok());
  full = false;
  must(writer.flush());
  EXPECT_EQ(values(), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(WriterTest, WithoutSpaceAFullQueueRefusesInsteadOfBlocking) {
  StoreOptions options;
  options.queue_max = 2;
  options.batch_max = 1;
  Writer writer(std::move(database_), options);
  must(writer.push(
      [](Database&) -> Result<void> { return Error{ErrorCode::kExhausted, "no space"}; }));
  EXPECT_FALSE(writer.flush().ok());
  must(writer.push(insert(1)));
  must(writer.push(insert(2)));
  const Result<void> refused = writer.push(insert(3));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
}

TEST_F(WriterTest, AnotherErrorStopsTheWriterForGood) {
  Writer writer(std::move(database_), {});
  must(writer.push(insert(1)));
  must(writer.push([](Database&) -> Result<void> { return Error{ErrorCode::kInternal, "bug"}; }));
  EXPECT_FALSE(writer.flush().ok());
  EXPECT_FALSE(writer.push(insert(2)).ok());
  EXPECT_EQ(values(), std::vector<std::int64_t>{1});
}

}  // namespace
}  // namespace fusefarm::store
