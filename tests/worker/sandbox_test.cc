#include "worker/sandbox.h"

#include <gtest/gtest.h>

#include "tests/worker/arm_fixture.h"

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

class SandboxTest : public ArmFixture {
 protected:
  // What a candidate that runs `body` leaves in y[0] of every row; the second filter is not reached
  // when it does so while it is loaded.
  std::optional<Verdict> try_at_load(const std::string& attempt) {
    const std::string before =
        "extern \"C\" { int socket(int, int, int); int open(const char*, int, ...); int fork();\n"
        "char* getenv(const char*); long ptrace(int, ...); int kill(int, int); }\n"
        "static float result = -1;\n"
        "__attribute__((constructor)) static void at_load() { result = (" +
        attempt + "); }\n";
    std::optional<Verdict> fault;
    auto arm = start(row_candidate("y[0] = result;", before), fault);
    if (!arm) {
      return fault;
    }
    return arm->launch(0, 1, 5s).fault;
  }
};

TEST_F(SandboxTest, TheLevelIsFull) {
  EXPECT_EQ(sandbox().level(), IsolationLevel::kFull);
  EXPECT_EQ(sandbox().reason(), "");
}

TEST_F(SandboxTest, CodeThatRunsAtLoadGetsNoNetwork) {
  EXPECT_FALSE(try_at_load("socket(2, 1, 0)").has_value());
  EXPECT_EQ(y()[0], -1.0F);
}

TEST_F(SandboxTest, CodeThatRunsAtLoadStartsNoProcess) {
  EXPECT_FALSE(try_at_load("fork()").has_value());
  EXPECT_EQ(y()[0], -1.0F);
}

TEST_F(SandboxTest, CodeThatRunsAtLoadTracesNothing) {
  EXPECT_FALSE(try_at_load("ptrace(16, 1, 0, 0)").has_value());
  EXPECT_EQ(y()[0], -1.0F);
}

TEST_F(SandboxTest, CodeThatRunsAtLoadWritesNoFile) {
  EXPECT_FALSE(try_at_load("open(\"/escaped\", 0101, 0600)").has_value());
  EXPECT_EQ(y()[0], -1.0F);
  EXPECT_FALSE(try_at_load("open(\"/fusefarm/fusefarm-runner\", 1)").has_value());
  EXPECT_EQ(y()[0], -1.0F);
}

TEST_F(SandboxTest, CodeThatRunsAtLoadSeesNoFileOfTheHost) {
  for (const char* path : {"/etc/passwd", "/root", "/home", "/var", "/sys", FUSEFARM_SOURCE_DIR}) {
    EXPECT_FALSE(try_at_load("open(\"" + std::string(path) + "\", 0)").has_value());
    EXPECT_EQ(y()[0], -1.0F) << path;
  }
}

TEST_F(SandboxTest, CodeThatRunsAtLoadSeesNoEnvironment) {
  ASSERT_EQ(::setenv("FUSEFARM_TEST_SECRET", "1", 1), 0);
  EXPECT_FALSE(try_at_load("getenv(\"FUSEFARM_TEST_SECRET\") ? 1 : -1").has_value());
  EXPECT_EQ(y()[0], -1.0F);
  EXPECT_FALSE(try_at_load("getenv(\"HOME\") ? 1 : -1").has_value());
  EXPECT_EQ(y()[0], -1.0F);
}

TEST(SandboxDetectionTest, WithoutBubblewrapItIsRefusedAndSaysWhy) {
  const auto sandbox = Sandbox::detect({program_folder(), "/nowhere/bwrap", false});
  ASSERT_FALSE(sandbox.ok());
  EXPECT_EQ(sandbox.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(sandbox.error().message.find("/nowhere/bwrap"), std::string::npos);
  EXPECT_NE(sandbox.error().message.find("degraded-ok"), std::string::npos);
}

TEST(SandboxDetectionTest, ADegradedSandboxSaysSo) {
  const auto sandbox = Sandbox::detect({program_folder(), "/nowhere/bwrap", true});
  ASSERT_TRUE(sandbox.ok());
  EXPECT_EQ(sandbox->level(), IsolationLevel::kNone);
  EXPECT_NE(sandbox->reason(), "");
}

TEST(SandboxDetectionTest, MissingProgramsAreAnErrorEvenWhenDegraded) {
  const auto sandbox = Sandbox::detect({"/nowhere", "", true});
  ASSERT_FALSE(sandbox.ok());
  EXPECT_NE(sandbox.error().message.find("/nowhere/fusefarm-runner"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm::worker
