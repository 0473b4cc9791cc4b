#include "worker/child_process.h"

#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace fusefarm::worker {
namespace {

using namespace std::chrono_literals;

SpawnOptions shell(const std::string& script) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script};
  return options;
}

TEST(ChildProcessTest, TheExitStatusIsReported) {
  auto child = ChildProcess::spawn(shell("exit 7")).take();
  const auto status = child.wait(5s);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, 7);
  EXPECT_EQ(status->signal, 0);
  EXPECT_EQ(child.wait(0s)->code, 7) << "and again";
}

TEST(ChildProcessTest, TheSignalIsReported) {
  auto child = ChildProcess::spawn(shell("kill -SEGV $$")).take();
  const auto status = child.wait(5s);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->signal, SIGSEGV);
}

TEST(ChildProcessTest, WhatRunsOnHasNoStatus) {
  auto child = ChildProcess::spawn(shell("while :; do :; done")).take();
  EXPECT_FALSE(child.wait(10ms).has_value());
  child.kill();
  EXPECT_EQ(child.wait(0s)->signal, SIGKILL);
}

TEST(ChildProcessTest, AMissingProgramIsAnErrorAndNotAnExit) {
  SpawnOptions options;
  options.argv = {"/nowhere/program"};
  const auto child = ChildProcess::spawn(options);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(child.error().message.find("/nowhere/program"), std::string::npos);
}

TEST(ChildProcessTest, OnlyTheNamedDescriptorsAndVariablesAreInherited) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SpawnOptions options = shell("echo $(ls /proc/self/fd) $NAME $HOME >&5");
  options.environment = {"NAME=value", "PATH=/usr/bin:/bin"};
  options.fds = {{writer.get(), 5}};
  auto child = ChildProcess::spawn(options).take();
  writer.reset();
  std::string text(256, '\0');
  const ssize_t n = ::read(reader.get(), text.data(), text.size());
  ASSERT_GT(n, 0);
  text.resize(static_cast<std::size_t>(n));
  EXPECT_EQ(text, "0 1 2 3 5 value\n") << "3 is ls's own";
  EXPECT_EQ(child.wait(5s)->code, 0);
}

}  // namespace
}  // namespace fusefarm::worker
