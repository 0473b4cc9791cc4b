#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "store/database.h"
#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

class StoreCrashTest : public StoreTest {
 protected:
  // Lets a writer acknowledge `count` numbers, kills it wherever it then is, and returns the last
  // one that it acknowledged.
  std::int64_t write_and_kill(std::uint64_t count) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
    std::string program = FUSEFARM_BINARY_DIR "/tests/store_crash_writer";
    std::string database = path();
    char* arguments[] = {program.data(), database.data(), nullptr};
    char* environment[] = {nullptr};
    pid_t child = -1;
    EXPECT_EQ(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environment), 0);
    posix_spawn_file_actions_destroy(&actions);
    writer.reset();
    std::string text;
    char chunk[4096];
    std::uint64_t lines = 0;
    ssize_t n = 1;
    while ((n = ::read(reader.get(), chunk, sizeof chunk)) > 0) {
      text.append(chunk, static_cast<std::size_t>(n));
      lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
      if (lines >= count) {
        ::kill(child, SIGKILL);
      }
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    const std::vector<std::string> numbers = split(text.substr(0, text.rfind('\n')), '\n');
    return parse_int(numbers.back()).value_or(-1);
  }
};

TEST_F(StoreCrashTest, AllThatWasAcknowledgedSurvivesBeingKilledAnywhere) {
  std::int64_t acknowledged = -1;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const std::int64_t last = write_and_kill(5 + Random::keyed(1, "kill-after", round).below(60));
    ASSERT_GT(last, acknowledged);
    acknowledged = last;
    const auto reader = must(Database::open(path(), Database::Mode::kReadOnly));
    Statement check = must(reader->prepare("PRAGMA integrity_check"));
    ASSERT_TRUE(must(check.step()));
    EXPECT_EQ(check.text(0), "ok");
    // Numbers are without a hole up to the last one acknowledged; one more may be there.
    const std::int64_t count = must(reader->integer("SELECT count(*) FROM decision"));
    EXPECT_EQ(must(reader->integer("SELECT max(sequence) + 1 FROM decision")), count);
    EXPECT_GT(count, acknowledged);
    EXPECT_LE(count, acknowledged + 2);
    // No call in parts: an outcome has its samples.
    EXPECT_EQ(must(reader->integer("SELECT count(*) FROM experiment WHERE state = 'done' AND 2 <>"
                                   " (SELECT count(*) FROM measurement WHERE experiment = id)")),
              0);
    EXPECT_GT(must(reader->integer("SELECT count(*) FROM experiment WHERE state = 'done'")),
              acknowledged);
  }
}

TEST_F(StoreCrashTest, TheDeadOwnersLockIsFreeAndTheCampaignIsTakenUp) {
  write_and_kill(3);
  const auto store = open();
  ASSERT_NE(store, nullptr);
  const CampaignRow row = must(store->begin_or_resume_campaign(sample_spec(), digest_of("s")));
  EXPECT_EQ(row.runs, 2);
  EXPECT_EQ(row.state, CampaignState::kRunning);
}

TEST_F(StoreCrashTest, AReaderAloneReadsWhatTheDeadOwnerLeft) {
  const std::int64_t acknowledged = write_and_kill(3);
  const auto history = must(History::open(path()));
  ASSERT_EQ(must(history->campaigns()).size(), 1U);
  EXPECT_GT(static_cast<std::int64_t>(must(history->decisions(CampaignId{1})).size()),
            acknowledged);
}

}  // namespace
}  // namespace fusefarm::store
