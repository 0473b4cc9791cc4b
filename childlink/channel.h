// Framed messages between a worker and one of its children, over a Unix stream socket pair.
// A frame is u32 length, u32 number of descriptors (both little endian), then the text; descriptors
// travel by SCM_RIGHTS with the frame's first byte. The peer is distrusted: lengths are bounded
// before anything is allocated, and a frame that contradicts itself ends the channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"

namespace fusefarm::childlink {

constexpr std::size_t kMessageBytesMax = 64U << 20;
constexpr std::size_t kMessageFdsMax = 64;

struct Message {
  std::string text;
  std::vector<UniqueFd> fds;
};

// One end. One thread at a time. Never blocks longer than the time-out it is given.
// Errors: kUnavailable when the peer has closed its end, kIntegrity when the peer's bytes are no
// frame (the channel is dead from then on), kInvalidArgument for a message too large to send.
class Channel {
 public:
  // `clock` is borrowed and must outlive the channel.
  Channel(UniqueFd socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}

  // Waits at most `timeout` for room in the socket. The descriptors stay the caller's. kExhausted:
  // the peer did not read within the time-out; the channel is dead, for half a frame is out.
  Result<void> send(std::string_view text, std::span<const int> fds, Duration timeout);

  // The next whole message; nothing when none was complete within the time-out (what had arrived of
  // it is kept for the next call).
  Result<std::optional<Message>> receive(Duration timeout);

  int fd() const { return socket_.get(); }

 private:
  struct Partial {
    std::vector<std::byte> header;
    std::string text;
    std::size_t text_bytes = 0, fds_expected = 0;
    std::vector<UniqueFd> fds;
    bool header_done = false;
  };

  // Reads what the current frame still lacks. True when it is complete.
  Result<bool> advance();
  Result<void> parse_header();
  // Reads at most `size` bytes and any descriptors that come with them; 0: nothing there now.
  Result<std::size_t> read_some(void* into, std::size_t size);
  Error dead(Error error);

  UniqueFd socket_;
  const Clock* clock_;
  Partial partial_;
};

// Both ends of a new channel. The second is for a child: a plain descriptor, close-on-exec like the
// first, to be handed over by the code that spawns.
struct ChannelEnds {
  UniqueFd parent, child;
};

Result<ChannelEnds> make_channel_ends();

}  // namespace fusefarm::childlink
