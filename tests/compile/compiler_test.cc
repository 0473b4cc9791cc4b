#include "compile/compiler.h"

#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "compile/limited_process.h"

namespace fusefarm::compile {
namespace {

using namespace std::chrono_literals;
using childlink::CompileRequest;
using childlink::CompileStatus;

class CompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "fusefarm_compile_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_TRUE(make_directories(folder_).ok());
    request_.compiler = "/usr/bin/g++";
    request_.flags = {"-O2"};
  }

  Compiled compile(const std::string& source) {
    request_.source = source;
    return compile_source(request_, folder_, system_clock());
  }

  std::string folder_;
  CompileRequest request_;
};

TEST_F(CompilerTest, SourceBecomesASealedObject) {
  const Compiled compiled = compile("extern \"C\" int f(int x) { return x + 1; }");
  ASSERT_EQ(compiled.reply.status, CompileStatus::kBuilt) << compiled.reply.diagnostics;
  ASSERT_TRUE(compiled.artifact.valid());
  EXPECT_LT(::write(compiled.artifact.get(), "x", 1), 0) << "nobody can change it";
}

TEST_F(CompilerTest, AMistakeIsAnErrorWithItsPlace) {
  const Compiled compiled = compile("int f() { return nothing; }");
  EXPECT_EQ(compiled.reply.status, CompileStatus::kError);
  EXPECT_NE(compiled.reply.diagnostics.find("nothing"), std::string::npos);
  EXPECT_FALSE(compiled.artifact.valid());
}

TEST_F(CompilerTest, ATemplateBombEndsWithinItsLimits) {
  request_.seconds_max = 3;
  const TimePoint start = system_clock().now();
  const Compiled compiled = compile(
      "template <int N, int M> struct B { static constexpr int v = B<N - 1, 2 * M>::v + "
      "B<N - 1, 2 * M + 1>::v; };\n"
      "template <int M> struct B<0, M> { static constexpr int v = M & 1; };\n"
      "extern \"C\" int f() { return B<28, 1>::v; }");
  EXPECT_TRUE(compiled.reply.status == CompileStatus::kTimeout ||
              compiled.reply.status == CompileStatus::kResource)
      << compiled.reply.diagnostics;
  EXPECT_LT(system_clock().now() - start, 20s);
}

TEST_F(CompilerTest, TooLargeAnObjectIsAMatterOfResources) {
  request_.output_bytes_max = 256 << 10;
  const Compiled compiled =
      compile("extern \"C\" { extern const char big[4 << 20]; const char big[4 << 20] = {1}; }");
  EXPECT_EQ(compiled.reply.status, CompileStatus::kResource) << compiled.reply.diagnostics;
}

TEST_F(CompilerTest, NoCompilerIsTheHostsFault) {
  request_.compiler = "/nowhere/g++";
  const Compiled compiled = compile("");
  EXPECT_EQ(compiled.reply.status, CompileStatus::kHost);
  EXPECT_NE(compiled.reply.diagnostics.find("/nowhere/g++"), std::string::npos);
}

TEST_F(CompilerTest, TheFarmsFlagsComeAfterTheCandidates) {
  request_.flags = {"-fexceptions"};
  const auto arguments = compiler_arguments(request_, "in", "out");
  const auto theirs = std::ranges::find(arguments, "-fexceptions");
  const auto ours = std::ranges::find(arguments, "-fno-exceptions");
  EXPECT_LT(theirs - arguments.begin(), ours - arguments.begin());
}

TEST(LimitedProcessTest, AnEndlessProcessIsKilledAtItsLimit) {
  const ProcessLimits limits{
      .wall = 200ms, .cpu_seconds = 10, .memory_bytes = 1U << 30, .file_bytes = 1U << 20};
  const auto end =
      run_limited({"/bin/sh", "-c", "while :; do :; done"}, "/tmp", limits, system_clock());
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_TRUE(end->timed_out);
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST(LimitedProcessTest, AFloodOfOutputIsCutAndNotFatal) {
  const ProcessLimits limits{
      .wall = 20s, .cpu_seconds = 10, .memory_bytes = 1U << 30, .file_bytes = 1U << 20};
  const auto end = run_limited({"/bin/sh", "-c", "head -c 3000000 /dev/zero; exit 5"}, "/tmp",
                               limits, system_clock());
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->exit_code, 5);
  EXPECT_EQ(end->output.size(), kOutputMax);
}

}  // namespace
}  // namespace fusefarm::compile
