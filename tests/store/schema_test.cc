#include "store/schema.h"

#include <array>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

class SchemaTest : public StoreTest {
 protected:
  std::unique_ptr<Database> database(const std::string& at) const {
    return must(Database::open(at, Database::Mode::kReadWrite));
  }

  static std::string columns(Database& database, const std::string& view) {
    Statement select =
        must(database.prepare("SELECT group_concat(name, ' ') FROM (SELECT name FROM "
                              "pragma_table_info(?) ORDER BY cid)"));
    select.bind(view);
    return must(select.step()) ? select.text(0) : "";
  }
};

constexpr std::array<Migration, 2> kTwoSteps{
    {{"one", "CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES(7)"},
     {"two", "ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 1"}}};
constexpr std::array<Migration, 2> kBrokenSecond{
    {{"one", kTwoSteps[0].sql}, {"two", "CREATE TABLE u(a INTEGER) STRICT; DROP TABLE missing"}}};

TEST_F(SchemaTest, AnOlderFileIsMigratedAndCopiedBefore) {
  const auto file = database(path());
  must(migrate(*file, std::span(kTwoSteps).first(1)));
  must(migrate(*file, kTwoSteps));
  EXPECT_EQ(must(file->integer("PRAGMA user_version")), 2);
  EXPECT_EQ(must(file->integer("SELECT a * 10 + b FROM t")), 71);
  const auto backup = database(path() + ".v1.bak");
  EXPECT_EQ(must(backup->integer("PRAGMA user_version")), 1);
  EXPECT_EQ(must(backup->integer("SELECT a FROM t")), 7);
}

TEST_F(SchemaTest, AMigrationThatFailsLeavesTheFileAsItWas) {
  const auto file = database(path());
  must(migrate(*file, std::span(kTwoSteps).first(1)));
  EXPECT_FALSE(migrate(*file, kBrokenSecond).ok());
  EXPECT_EQ(must(file->integer("PRAGMA user_version")), 1);
  EXPECT_EQ(must(file->integer("SELECT count(*) FROM sqlite_master")), 1);
  must(migrate(*file, kTwoSteps));
  EXPECT_EQ(must(file->integer("SELECT b FROM t")), 1);
}

TEST_F(SchemaTest, ANewFileHasNoBackup) {
  open().reset();
  EXPECT_FALSE(std::filesystem::exists(path() + ".v0.bak"));
}

TEST_F(SchemaTest, DurabilitySettingsAreInForce) {
  const auto file = database(path());
  Statement mode = must(file->prepare("PRAGMA journal_mode"));
  ASSERT_TRUE(must(mode.step()));
  EXPECT_EQ(mode.text(0), "wal");
  EXPECT_EQ(must(file->integer("PRAGMA synchronous")), 2);
  EXPECT_EQ(must(file->integer("PRAGMA foreign_keys")), 1);
}

// docs/store.md promises these columns.
TEST_F(SchemaTest, TheFrozenViewsHaveTheirColumns) {
  const auto file = database(path());
  must(migrate(*file, migrations()));
  EXPECT_EQ(columns(*file, "v_experiment"),
            "id campaign_id campaign phase kind state region workload shape candidate incumbent "
            "family origin device_class toolchain protocol source started_ms ended_ms");
  EXPECT_EQ(columns(*file, "v_verdict"),
            "experiment campaign_id verdict reason detail rule_version causal_label "
            "screen_estimate screen_lo screen_hi confirm_estimate confirm_lo confirm_hi");
  EXPECT_EQ(columns(*file, "v_rewrite"),
            "id campaign_id campaign phase region contains workload candidate confirmation "
            "graph_from graph_to state proposed_ms decided_ms");
}

// A file as version 1 wrote it. Whatever comes later must open it and find its content.
TEST_F(SchemaTest, AFileOfVersion1IsRead) {
  std::ifstream dump(FUSEFARM_SOURCE_DIR "/tests/store/version_1.sql");
  ASSERT_TRUE(dump.good());
  std::stringstream sql;
  sql << dump.rdbuf();
  must(database(path())->execute(sql.str()));
  const auto store = open();
  const History* history = must(store->read());
  const std::vector<CampaignRow> campaigns = must(history->campaigns());
  ASSERT_EQ(campaigns.size(), 1U);
  EXPECT_EQ(campaigns[0].name, "c");
  EXPECT_EQ(must(history->campaign_spec(campaigns[0].id))->workloads.size(), 1U);
  const auto found = must(history->find_outcome(sample_key(numbered_candidate(1))));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->outcome.measurements.size(), 2U);
  EXPECT_TRUE(must(history->candidate(numbered_candidate(1).digest())).has_value());
}

}  // namespace
}  // namespace fusefarm::store
