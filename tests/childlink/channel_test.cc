#include "childlink/channel.h"

#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fusefarm::childlink {
namespace {

using namespace std::chrono_literals;

struct Pair {
  Channel ours, theirs;
};

Pair make_pair() {
  ChannelEnds ends = make_channel_ends().take();
  return {Channel(std::move(ends.parent), system_clock()),
          Channel(std::move(ends.child), system_clock())};
}

// Our end as a channel, the peer's as a raw socket that may send anything.
struct RawPair {
  Channel channel;
  UniqueFd raw;

  void write(std::string_view bytes) const {
    ASSERT_EQ(::send(raw.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
};

RawPair make_raw_pair() {
  ChannelEnds ends = make_channel_ends().take();
  return {Channel(std::move(ends.parent), system_clock()), std::move(ends.child)};
}

std::string header(std::uint32_t bytes, std::uint32_t fds) {
  std::string text(8, '\0');
  for (unsigned i = 0; i < 4; ++i) {
    text[i] = static_cast<char>((bytes >> (8 * i)) & 0xffU);
    text[4 + i] = static_cast<char>((fds >> (8 * i)) & 0xffU);
  }
  return text;
}

TEST(ChannelTest, MessagesArriveInOrderAndUnchanged) {
  Pair pair = make_pair();
  ASSERT_TRUE(pair.ours.send("first", {}, 1s).ok());
  ASSERT_TRUE(pair.ours.send("", {}, 1s).ok());
  ASSERT_TRUE(pair.ours.send(std::string("a\0b", 3), {}, 1s).ok());
  EXPECT_EQ(pair.theirs.receive(1s).take()->text, "first");
  EXPECT_EQ(pair.theirs.receive(1s).take()->text, "");
  EXPECT_EQ(pair.theirs.receive(1s).take()->text, std::string("a\0b", 3));
}

TEST(ChannelTest, AMessageLargerThanTheSocketBufferPasses) {
  Pair pair = make_pair();
  const std::string large(9U << 20, 'x');
  std::jthread writer([&] { EXPECT_TRUE(pair.ours.send(large, {}, 10s).ok()); });
  const auto received = pair.theirs.receive(10s).take();
  ASSERT_TRUE(received.has_value());
  EXPECT_TRUE(received->text == large);
}

TEST(ChannelTest, DescriptorsArriveWithTheirOwnMessage) {
  Pair pair = make_pair();
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const UniqueFd read_end(pipe[0]);
  UniqueFd write_end(pipe[1]);
  ASSERT_TRUE(pair.ours.send("plain", {}, 1s).ok());
  ASSERT_TRUE(pair.ours.send("with", std::array{write_end.get()}, 1s).ok());
  ASSERT_TRUE(pair.ours.send("after", {}, 1s).ok());
  EXPECT_TRUE(pair.theirs.receive(1s).take()->fds.empty());
  const auto with = pair.theirs.receive(1s).take();
  ASSERT_EQ(with->fds.size(), 1U);
  EXPECT_TRUE(pair.theirs.receive(1s).take()->fds.empty());
  write_end.reset();
  ASSERT_EQ(::write(with->fds[0].get(), "z", 1), 1);
  char got = 0;
  ASSERT_EQ(::read(read_end.get(), &got, 1), 1);
  EXPECT_EQ(got, 'z');
}

TEST(ChannelTest, NothingArrivesWithinTheTimeOut) {
  Pair pair = make_pair();
  const auto nothing = pair.ours.receive(5ms);
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
}

TEST(ChannelTest, AMessageInPiecesSurvivesTheTimeOutBetweenThem) {
  RawPair pair = make_raw_pair();
  pair.write(header(5, 0).substr(0, 3));
  EXPECT_FALSE(pair.channel.receive(2ms).take().has_value());
  pair.write(header(5, 0).substr(3) + "he");
  EXPECT_FALSE(pair.channel.receive(2ms).take().has_value());
  pair.write("llo");
  EXPECT_EQ(pair.channel.receive(1s).take()->text, "hello");
}

TEST(ChannelTest, AClosedPeerIsUnavailable) {
  Pair pair = make_pair();
  {
    const Channel gone = std::move(pair.theirs);
  }
  EXPECT_EQ(pair.ours.receive(1s).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(pair.ours.send("x", {}, 1s).error().code, ErrorCode::kUnavailable);
}

TEST(ChannelTest, ATruncatedMessageIsAnErrorAndNotAShorterMessage) {
  RawPair pair = make_raw_pair();
  pair.write(header(10, 0) + "half");
  pair.raw.reset();
  const auto received = pair.channel.receive(1s);
  ASSERT_FALSE(received.ok());
  EXPECT_EQ(received.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(received.error().message.find("inside a message"), std::string::npos);
}

TEST(ChannelTest, AnOversizedFrameIsRefusedBeforeItIsRead) {
  RawPair pair = make_raw_pair();
  pair.write(header(kMessageBytesMax + 1, 0));
  EXPECT_EQ(pair.channel.receive(1s).error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(pair.channel.receive(1s).error().code, ErrorCode::kUnavailable) << "it is dead now";
}

TEST(ChannelTest, GarbageIsRefused) {
  RawPair pair = make_raw_pair();
  pair.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(pair.channel.receive(1s).error().code, ErrorCode::kIntegrity);
}

TEST(ChannelTest, AFrameWithoutTheDescriptorsItAnnouncesIsRefused) {
  RawPair pair = make_raw_pair();
  pair.write(header(2, 1) + "{}");
  EXPECT_EQ(pair.channel.receive(1s).error().code, ErrorCode::kIntegrity);
}

TEST(ChannelTest, WhatIsTooLargeIsNotSent) {
  Pair pair = make_pair();
  EXPECT_EQ(pair.ours.send(std::string(kMessageBytesMax + 1, 'x'), {}, 1s).error().code,
            ErrorCode::kInvalidArgument);
  ASSERT_TRUE(pair.ours.send("ok", {}, 1s).ok()) << "the channel is still good";
}

TEST(ChannelTest, APeerThatDoesNotReadEndsTheSendInTime) {
  Pair pair = make_pair();
  const auto sent = pair.ours.send(std::string(32U << 20, 'x'), {}, 20ms);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::kExhausted);
}

}  // namespace
}  // namespace fusefarm::childlink
