// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/source.h"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "braintrace/base/error.h"

namespace braintrace::stream {

namespace {

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void ask_to_stop(int) { stop_asked = true; }

// Signals are held back between the look at the flag and the wait, so that none is missed.
bool wait_for_input(int fd) {
  sigset_t stops, before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT), sigaddset(&stops, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  pollfd p{fd, POLLIN, 0};
  while (!stop_asked && ::ppoll(&p, 1, nullptr, &before) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !stop_asked;
}

[[noreturn]] void failed(const std::string& what) { fail("stream: {}: {}.", what, std::strerror(errno)); }

class Lines : public LineSource {
 public:
  Lines(int fd, size_t most_bytes) : fd_(fd), buffer_(most_bytes + 1) {}

  bool next(Line& line) override {
    bool too_long = false;
    while (true) {
      const auto* newline = static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
      if (newline || (at_end_ && begin_ < end_)) {
        const size_t length = newline ? static_cast<size_t>(newline - buffer_.data()) - begin_ : end_ - begin_;
        line                = {++number_, {buffer_.data() + begin_, length}, too_long};
        begin_ += length + (newline ? 1 : 0);
        return true;
      }
      if (at_end_) return false;
      if (end_ - begin_ == buffer_.size()) {  // full without a newline: forget it and find the end of the line
        too_long = true;
        begin_ = end_ = 0;
      }
      if (!fill()) return false;
    }
  }

 private:
  // False when a stop was asked for.
  bool fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (!wait_for_input(fd_)) return false;
    const ssize_t n = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (n < 0 && errno != EINTR && errno != EAGAIN) failed("cannot read the records");
    if (n == 0) at_end_ = true;
    if (n > 0) end_ += static_cast<size_t>(n);
    return true;
  }

  int               fd_;
  std::vector<char> buffer_;
  size_t            begin_ = 0, end_ = 0;
  bool              at_end_ = false;
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

  int  port() const override { return port_; }
  bool next(Line& line) override {
    while (wait_for_input(fd_)) {
      const ssize_t n = ::recv(fd_, buffer_.data(), buffer_.size(), MSG_TRUNC | MSG_DONTWAIT);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) failed("cannot receive");
      const size_t length = static_cast<size_t>(n);
      line                = {++number_, {buffer_.data(), std::min(length, buffer_.size())}, length > buffer_.size()};
      return true;
    }
    return false;
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

StopSignal::StopSignal() {
  stop_asked = false;
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags   = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}
StopSignal::~StopSignal() {
  for (int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

}  // namespace braintrace::stream
