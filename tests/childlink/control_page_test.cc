#include "childlink/control_page.h"

#include <thread>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace fusefarm::childlink {
namespace {

using namespace std::chrono_literals;

TEST(ControlPageTest, ACommandAndItsEndCrossBetweenTwoMappings) {
  const UniqueFd fd = make_control_page().take();
  const ControlMapping worker = ControlMapping::map(fd.get()).take();
  const ControlMapping executor = ControlMapping::map(fd.get()).take();
  std::jthread other([&] {
    ControlPage& page = executor.page();
    while (page.sequence.load() == 0) {
      futex_wait(page.sequence, 0, 1s);
    }
    const CommandArgs args = read_command(page);
    EXPECT_EQ(args.first_set, 3U);
    EXPECT_EQ(args.launches, 7U);
    page.done.store(page.sequence.load());
    futex_wake_all(page.done);
  });
  CommandArgs args;
  args.first_set = 3;
  args.launches = 7;
  const std::uint32_t number = post_command(worker.page(), args);
  const TimePoint deadline = system_clock().now() + 5s;
  while (worker.page().done.load() != number && system_clock().now() < deadline) {
    futex_wait(worker.page().done, number - 1, 1s);
  }
  EXPECT_EQ(worker.page().done.load(), number);
}

TEST(ControlPageTest, WaitingEndsWithTheTimeOut) {
  const UniqueFd fd = make_control_page().take();
  const ControlMapping mapping = ControlMapping::map(fd.get()).take();
  const TimePoint start = system_clock().now();
  futex_wait(mapping.page().done, 0, 10ms);
  EXPECT_LT(system_clock().now() - start, 2s);
}

TEST(ControlPageTest, TheExecutorCannotShrinkThePageUnderTheWorker) {
  const UniqueFd fd = make_control_page().take();
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
}

TEST(ControlPageTest, AnotherSizeIsNoControlPage) {
  const UniqueFd fd(::memfd_create("small", MFD_CLOEXEC));
  ASSERT_TRUE(fd.valid());
  EXPECT_EQ(ControlMapping::map(fd.get()).error().code, ErrorCode::kIntegrity);
}

}  // namespace
}  // namespace fusefarm::childlink
