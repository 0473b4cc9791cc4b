#include "judge/judge_service.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/time.h"
#include "childlink/channel.h"
#include "graph/graph_builder.h"
#include "graph/graph_io.h"
#include "judge/serve.h"

namespace fusefarm::judge {
namespace {

using namespace std::chrono_literals;

// A memfd and its mapping here.
class Shared {
 public:
  explicit Shared(std::int64_t bytes) : fd_(::memfd_create("judge_test", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(fd_.get(), bytes), 0);
    memory_ = MappedMemory::map(fd_.get(), bytes, true).take();
  }

  UniqueFd duplicate() const { return UniqueFd(::dup(fd_.get())); }

  int fd() const { return fd_.get(); }

  std::span<std::byte> bytes() { return memory_.writable(); }

 private:
  UniqueFd fd_;
  MappedMemory memory_;
};

template <class... Fds>
std::vector<UniqueFd> fds_of(const Fds&... shared) {
  std::vector<UniqueFd> fds;
  (fds.push_back(shared.duplicate()), ...);
  return fds;
}

// out = x + y: an engine for it fits in a test.
class JudgeServiceTest : public testing::Test {
 protected:
  static constexpr int kSets = 2;
  static constexpr int kEntries = 3;

  JudgeServiceTest() {
    graph::GraphBuilder b(graph_, graph::DType::kF32);
    const std::vector<graph::Dim> shape{graph::tokens(), graph::fixed(32)};
    x_ = b.input("x", graph::DType::kF32, shape);
    y_ = b.input("y", graph::DType::kF32, shape);
    graph_.outputs = {b.add("add", x_, y_)};
    layout_ = graph::boundary_layout(graph_, kBindings);
    open_pool_.graph_json = graph::to_json(graph_);
    open_pool_.bindings = kBindings;
    open_pool_.entries = {
        {"normal", 1, true, 0}, {"heavy_tail", 2, true, 0}, {"normal", 1, true, 1}};
    open_pool_.boundary_sets = kSets;
  }

  childlink::JudgeReply open_model(JudgeService& service) {
    return service.handle(childlink::OpenModel{graph::to_json(graph_), kBindings, 1, 2},
                          fds_of(weights_));
  }

  // The worker copies an entry into a set; then an honest engine runs.
  void launch(Shared& pool, Shared& boundary, int entry, int set) {
    const auto bytes = static_cast<std::size_t>(layout_.bytes);
    std::byte* image = boundary.bytes().data() + static_cast<std::size_t>(set) * bytes;
    std::memcpy(image, pool.bytes().data() + static_cast<std::size_t>(entry) * bytes, bytes);
    const auto at = [&](graph::TensorId id) {
      return reinterpret_cast<float*>(image + layout_.offset.at(id));
    };
    for (int i = 0; i < 4 * 32; ++i) {
      at(graph_.outputs[0])[i] = at(x_)[i] + at(y_)[i];
    }
  }

  static constexpr graph::Bindings kBindings{4, 4, 16, 4};
  graph::Graph graph_;
  graph::TensorId x_ = 0, y_ = 0;
  graph::BoundaryLayout layout_;
  childlink::OpenPool open_pool_;
  Shared weights_{4096};
};

TEST_F(JudgeServiceTest, AnHonestLaunchPassesAndAWrongOneIsNamed) {
  JudgeService service;
  ASSERT_TRUE(std::holds_alternative<childlink::Done>(open_model(service)));
  Shared pool(layout_.bytes * kEntries);
  Shared boundary(layout_.bytes * kSets);
  const auto opened = service.handle(open_pool_, fds_of(pool, boundary));
  ASSERT_TRUE(std::holds_alternative<childlink::PoolOpened>(opened));
  const std::int64_t number = std::get<childlink::PoolOpened>(opened).pool;
  EXPECT_TRUE(std::holds_alternative<childlink::Done>(
      service.handle(childlink::Prepare{number, {0, 1, 2}}, {})));
  for (int entry = 0; entry < kEntries; ++entry) {
    launch(pool, boundary, entry, 1);
    const auto reply = service.handle(childlink::Compare{number, 1, entry}, {});
    ASSERT_TRUE(std::holds_alternative<childlink::Compared>(reply));
    EXPECT_TRUE(std::get<childlink::Compared>(reply).record.ok);
    EXPECT_TRUE(std::get<childlink::Compared>(reply).inputs_unchanged);
  }
  // Against another entry's oracle, and with a mutated input.
  const auto other = service.handle(childlink::Compare{number, 1, 0}, {});
  EXPECT_TRUE(std::get<childlink::Compared>(other).record.ok);  // entries 0 and 2: same inputs
  const auto wrong = service.handle(childlink::Compare{number, 1, 1}, {});
  EXPECT_FALSE(std::get<childlink::Compared>(wrong).record.ok);
  EXPECT_FALSE(std::get<childlink::Compared>(wrong).inputs_unchanged);
}

TEST_F(JudgeServiceTest, WhoeverRewritesTheSharedPoolDoesNotMoveTheGoal) {
  JudgeService service;
  open_model(service);
  Shared pool(layout_.bytes * kEntries);
  Shared boundary(layout_.bytes * kSets);
  const auto opened = service.handle(open_pool_, fds_of(pool, boundary));
  std::ranges::fill(pool.bytes(), std::byte{0});
  launch(pool, boundary, 0, 0);  // zeros plus zeros
  const auto reply =
      service.handle(childlink::Compare{std::get<childlink::PoolOpened>(opened).pool, 0, 0}, {});
  EXPECT_FALSE(std::get<childlink::Compared>(reply).record.ok);
}

TEST_F(JudgeServiceTest, BadRequestsAreAnsweredNotFatal) {
  JudgeService service;
  Shared pool(layout_.bytes * kEntries);
  Shared boundary(layout_.bytes * kSets);
  const auto fails = [&](const childlink::JudgeRequest& request, const std::vector<UniqueFd>& fds) {
    return std::holds_alternative<childlink::Failed>(service.handle(request, fds));
  };
  EXPECT_TRUE(fails(open_pool_, fds_of(pool, boundary)));  // no model yet
  open_model(service);
  EXPECT_TRUE(fails(open_pool_, fds_of(pool)));
  Shared small(layout_.bytes);
  EXPECT_TRUE(fails(open_pool_, fds_of(small, boundary)));
  childlink::OpenPool odd = open_pool_;
  odd.graph_json = "{";
  EXPECT_TRUE(fails(odd, fds_of(pool, boundary)));
  odd = open_pool_;
  odd.entries[0].distribution = "gauss";
  EXPECT_TRUE(fails(odd, fds_of(pool, boundary)));
  const auto opened = service.handle(open_pool_, fds_of(pool, boundary));
  const std::int64_t number = std::get<childlink::PoolOpened>(opened).pool;
  EXPECT_TRUE(fails(childlink::Compare{number, kSets, 0}, {}));
  EXPECT_TRUE(fails(childlink::Compare{number, 0, kEntries}, {}));
  EXPECT_TRUE(fails(childlink::Prepare{number, {-1}}, {}));
  EXPECT_TRUE(fails(childlink::CompareModel{number, 0, 1, 0}, {}));
  EXPECT_FALSE(fails(childlink::ClosePool{number}, {}));
  EXPECT_TRUE(fails(childlink::ClosePool{number}, {}));
}

TEST_F(JudgeServiceTest, AnswersOverAChannelUntilTheWorkerIsGone) {
  childlink::ChannelEnds ends = childlink::make_channel_ends().take();
  int status = -1;
  std::jthread judge([&] { status = serve(std::move(ends.child), system_clock()); });
  {
    childlink::Channel channel(std::move(ends.parent), system_clock());
    const int fds[] = {weights_.fd()};
    ASSERT_TRUE(channel
                    .send(childlink::encode(childlink::JudgeRequest(
                              childlink::OpenModel{graph::to_json(graph_), kBindings, 1, 1})),
                          fds, 5s)
                    .ok());
    auto message = channel.receive(10s);
    ASSERT_TRUE(message.ok() && message->has_value());
    EXPECT_TRUE(
        std::holds_alternative<childlink::Done>(*childlink::judge_reply_from((*message)->text)));
    ASSERT_TRUE(channel.send("not json", {}, 5s).ok());
    message = channel.receive(10s);
    ASSERT_TRUE(message.ok() && message->has_value());
    EXPECT_TRUE(
        std::holds_alternative<childlink::Failed>(*childlink::judge_reply_from((*message)->text)));
  }
  judge.join();
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fusefarm::judge
