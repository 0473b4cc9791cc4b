#include <sys/stat.h>

#include "tests/e2e/run_fixture.h"

namespace fusefarm::e2e {
namespace {

using CommandTest = RunFixture;

TEST_F(CommandTest, HelpAndVersionSayWhatThereIs) {
  const Ended help = fusefarm({"--help"}, folder_);
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"run", "graph", "history", "doctor", "version"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  const Ended version = fusefarm({"version"}, folder_);
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("fusefarm "));
  EXPECT_EQ(fusefarm({"run", "--help"}, folder_).exit_code, 0);
}

TEST_F(CommandTest, UsageErrorsExitWithTwo) {
  EXPECT_EQ(fusefarm({}, folder_).exit_code, 2);
  EXPECT_EQ(fusefarm({"rum"}, folder_).exit_code, 2);
  EXPECT_EQ(fusefarm({"run"}, folder_).exit_code, 2);
  EXPECT_EQ(fusefarm({"run", folder_ + "/none.yaml"}, folder_).exit_code, 2);
  const std::string file = campaign("phases: 1");
  EXPECT_EQ(fusefarm({"run", file, "-o", "yaml"}, folder_).exit_code, 2);
  EXPECT_EQ(fusefarm({"run", file, "--progress", "fancy"}, folder_).exit_code, 2);
  EXPECT_EQ(fusefarm({"run", file, "--threads", "100000"}, folder_).exit_code, 2);
}

TEST_F(CommandTest, AnUnknownKeyNamesFileLineAndKey) {
  const std::string file = campaign("phases: 1, prases: 2");
  const Ended ended = fusefarm({"run", file}, folder_);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("campaign.yaml:6"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("prases"), std::string::npos);
}

TEST_F(CommandTest, AModelThatIsNotSupportedIsRefusedByName) {
  write("model.json", R"({"architectures": ["MambaForCausalLM"], "model_type": "mamba"})");
  const Ended ended = fusefarm({"run", campaign("phases: 1")}, folder_);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("mamba"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("qwen3"), std::string::npos) << ended.err;
}

TEST_F(CommandTest, AFileThatIsNoDatabaseIsLeftAlone) {
  write("history.db", "this is a text, and longer than a header of a database would be\n");
  const Ended ended = fusefarm({"run", campaign("phases: 1")}, folder_);
  EXPECT_EQ(ended.exit_code, 4) << ended.err;
  EXPECT_NE(ended.err.find("history.db"), std::string::npos);
  std::ifstream file(folder_ + "/history.db");
  std::string first;
  std::getline(file, first);
  EXPECT_TRUE(first.starts_with("this is a text"));
}

TEST_F(CommandTest, TheConfigIsExplained) {
  const Ended ended = fusefarm({"run", "--explain-config"}, folder_);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("regions_per_phase"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm::e2e
