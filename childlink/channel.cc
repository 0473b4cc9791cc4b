#include "childlink/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/posix_error.h"

namespace fusefarm::childlink {
namespace {

constexpr std::size_t kHeaderBytes = 8;

Error peer_gone() { return {ErrorCode::kUnavailable, "the peer closed the channel"}; }

int poll_milliseconds(Duration left) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 3'600'000));
}

// True: ready (or hung up, which the next call will see). False: the time-out is over.
Result<bool> wait_for(int fd, short events, TimePoint deadline, const Clock& clock) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, poll_milliseconds(deadline - clock.now()));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 && clock.now() >= deadline) {
      return false;
    }
    if (ready < 0 && errno != EINTR) {
      return posix_error("poll a channel", errno);
    }
  }
}

void put_u32(std::byte* at, std::size_t value) {
  for (std::size_t i = 0; i < 4; ++i) {
    at[i] = static_cast<std::byte>((value >> (8 * i)) & 0xffU);
  }
}

std::size_t get_u32(const std::byte* at) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::to_integer<std::size_t>(at[i]) << (8 * i);
  }
  return value;
}

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kMessageFdsMax);

void attach_fds(msghdr& message, std::span<std::byte> control, std::span<const int> fds) {
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
}

void collect_fds(msghdr& message, std::vector<UniqueFd>& into) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + (i * sizeof(int)), sizeof(int));
      into.emplace_back(fd);
    }
  }
}

}  // namespace

Result<void> Channel::send(std::string_view text, std::span<const int> fds, Duration timeout) {
  if (!socket_.valid()) {
    return peer_gone();
  }
  if (text.size() > kMessageBytesMax || fds.size() > kMessageFdsMax) {
    return Error{ErrorCode::kInvalidArgument, "a message of " + std::to_string(text.size()) +
                                                  " bytes and " + std::to_string(fds.size()) +
                                                  " descriptors is too large for a channel"};
  }
  std::array<std::byte, kHeaderBytes> header{};
  put_u32(header.data(), text.size());
  put_u32(header.data() + 4, fds.size());
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  const TimePoint deadline = clock_->now() + timeout;
  std::size_t sent = 0;
  while (sent < kHeaderBytes + text.size()) {
    std::array<iovec, 2> parts{};
    const std::size_t of_text = sent < kHeaderBytes ? 0 : sent - kHeaderBytes;
    const std::size_t of_header = std::min(sent, kHeaderBytes);
    parts[0] = {header.data() + of_header, kHeaderBytes - of_header};
    parts[1] = {const_cast<char*>(text.data()) + of_text, text.size() - of_text};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    if (sent == 0 && !fds.empty()) {
      attach_fds(message, control, fds);
    }
    const ssize_t n = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (!TRY(wait_for(socket_.get(), POLLOUT, deadline, *clock_))) {
        return dead({ErrorCode::kExhausted, "the peer of a channel does not read"});
      }
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return dead(peer_gone());
    } else if (errno != EINTR) {
      return dead(posix_error("send on a channel", errno));
    }
  }
  return {};
}

Result<std::optional<Message>> Channel::receive(Duration timeout) {
  const TimePoint deadline = clock_->now() + timeout;
  for (;;) {
    if (!socket_.valid()) {
      return peer_gone();
    }
    if (TRY(advance())) {
      std::optional<Message> message{Message{std::move(partial_.text), std::move(partial_.fds)}};
      partial_ = {};
      return message;
    }
    if (!TRY(wait_for(socket_.get(), POLLIN, deadline, *clock_))) {
      return std::optional<Message>{};
    }
  }
}

Result<bool> Channel::advance() {
  for (;;) {
    if (!partial_.header_done) {
      std::array<std::byte, kHeaderBytes> bytes{};
      const std::size_t got = TRY(read_some(bytes.data(), kHeaderBytes - partial_.header.size()));
      if (got == 0) {
        return false;
      }
      partial_.header.insert(partial_.header.end(), bytes.begin(),
                             bytes.begin() + static_cast<std::ptrdiff_t>(got));
      if (partial_.header.size() < kHeaderBytes) {
        continue;
      }
      TRY(parse_header());
    }
    if (partial_.text.size() == partial_.text_bytes) {
      if (partial_.fds.size() != partial_.fds_expected) {
        return dead({ErrorCode::kIntegrity, "a frame lacks descriptors that it announced"});
      }
      return true;
    }
    // Grows with what arrives: an announced length alone allocates nothing.
    const std::size_t before = partial_.text.size();
    const std::size_t room = std::min<std::size_t>(partial_.text_bytes - before, 256U << 10);
    partial_.text.resize(before + room);
    auto got = read_some(partial_.text.data() + before, room);
    partial_.text.resize(before + (got.ok() ? *got : 0));
    if (TRY(std::move(got)) == 0) {
      return false;
    }
  }
}

Result<void> Channel::parse_header() {
  partial_.text_bytes = get_u32(partial_.header.data());
  partial_.fds_expected = get_u32(partial_.header.data() + 4);
  partial_.header_done = true;
  if (partial_.text_bytes > kMessageBytesMax || partial_.fds_expected > kMessageFdsMax) {
    return dead({ErrorCode::kIntegrity, "a frame announces " + std::to_string(partial_.text_bytes) +
                                            " bytes and " + std::to_string(partial_.fds_expected) +
                                            " descriptors, beyond the limits"});
  }
  return {};
}

Result<std::size_t> Channel::read_some(void* into, std::size_t size) {
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  for (;;) {
    iovec part{into, size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t n = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      if (errno == EAGAIN) {
        return std::size_t{0};
      }
      return dead(errno == ECONNRESET ? peer_gone() : posix_error("read a channel", errno));
    }
    collect_fds(message, partial_.fds);
    if ((message.msg_flags & MSG_CTRUNC) != 0 || partial_.fds.size() > kMessageFdsMax) {
      return dead({ErrorCode::kIntegrity, "a frame carries more descriptors than allowed"});
    }
    if (n == 0) {
      const bool inside = partial_.header_done || !partial_.header.empty();
      return dead(inside ? Error{ErrorCode::kUnavailable, "the peer closed inside a message"}
                         : peer_gone());
    }
    return static_cast<std::size_t>(n);
  }
}

Error Channel::dead(Error error) {
  socket_.reset();
  partial_ = {};
  return error;
}

Result<ChannelEnds> make_channel_ends() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return posix_error("socketpair", errno);
  }
  return ChannelEnds{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

}  // namespace fusefarm::childlink
