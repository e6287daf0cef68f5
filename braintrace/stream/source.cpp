// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/source.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "braintrace/base/error.h"
#include "braintrace/io/stop_signals.h"

namespace braintrace::stream {

namespace {

using Patience = std::optional<std::chrono::nanoseconds>;

[[noreturn]] void failed(const std::string& what) { fail("stream: {}: {}.", what, std::strerror(errno)); }

class Lines : public LineSource {
 public:
  Lines(int fd, size_t most_bytes) : fd_(fd), buffer_(most_bytes + 1) {}

  Arrival next(Line& line, Patience longest) override {
    while (true) {
      const auto* newline = static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
      if (newline || (at_end_ && begin_ < end_)) {
        const size_t length = newline ? static_cast<size_t>(newline - buffer_.data()) - begin_ : end_ - begin_;
        line                = {++number_, {buffer_.data() + begin_, length}, too_long_};
        begin_ += length + (newline ? 1 : 0);
        too_long_ = false;
        return Arrival::Line;
      }
      if (at_end_) return Arrival::End;
      if (end_ - begin_ == buffer_.size()) {  // full without a newline: forget it and find the end of the line
        too_long_ = true;
        begin_ = end_ = 0;
      }
      if (const Wait w = fill(longest); w != Wait::Ready) return w == Wait::Stopped ? Arrival::End : Arrival::Nothing;
    }
  }

 private:
  Wait fill(Patience longest) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (const Wait w = wait_for(fd_, POLLIN, longest); w != Wait::Ready) return w;
    const ssize_t n = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (n < 0 && errno != EINTR && errno != EAGAIN) failed("cannot read the records");
    if (n == 0) at_end_ = true;
    if (n > 0) end_ += static_cast<size_t>(n);
    return Wait::Ready;
  }

  int               fd_;
  std::vector<char> buffer_;
  size_t            begin_ = 0, end_ = 0;
  bool              at_end_ = false, too_long_ = false;
  int64_t           number_ = 0;
};

class UdpPort : public Datagrams {
 public:
  UdpPort(int port, size_t most_bytes) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), buffer_(most_bytes) {
    if (fd_ < 0) failed("cannot open a socket");
    sockaddr_in address{};
    address.sin_family      = AF_INET;
    address.sin_port        = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size          = sizeof address;
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      const int reason = errno;
      ::close(fd_);
      errno = reason;
      failed("cannot listen on 127.0.0.1 port " + std::to_string(port));
    }
    port_ = ntohs(address.sin_port);
  }
  ~UdpPort() override { ::close(fd_); }
  UdpPort(const UdpPort&)            = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  int     port() const override { return port_; }
  Arrival next(Line& line, Patience longest) override {
    while (true) {
      if (const Wait w = wait_for(fd_, POLLIN, longest); w != Wait::Ready)
        return w == Wait::Stopped ? Arrival::End : Arrival::Nothing;
      const ssize_t n = ::recv(fd_, buffer_.data(), buffer_.size(), MSG_TRUNC | MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) failed("cannot receive");
      const size_t length = static_cast<size_t>(n);
      line                = {++number_, {buffer_.data(), std::min(length, buffer_.size())}, length > buffer_.size()};
      return Arrival::Line;
    }
  }

 private:
  int               fd_;
  std::vector<char> buffer_;
  int               port_   = 0;
  int64_t           number_ = 0;
};

}  // namespace

std::unique_ptr<LineSource> lines_of(int fd, size_t most_bytes) { return std::make_unique<Lines>(fd, most_bytes); }
std::unique_ptr<Datagrams>  datagrams_on(int port, size_t most_bytes) {
   return std::make_unique<UdpPort>(port, most_bytes);
}

}  // namespace braintrace::stream
