// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/forked.h"

#include <array>
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braintrace::parallel {

namespace {

class SocketGroup final : public Group {
 public:
  SocketGroup(int rank, std::vector<int> sockets) : rank_(rank), sockets_(std::move(sockets)) {}
  ~SocketGroup() override {
    for (const int fd : sockets_)
      if (fd >= 0) ::close(fd);
  }
  SocketGroup(const SocketGroup&)            = delete;
  SocketGroup& operator=(const SocketGroup&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(sockets_.size()); }

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    const size_t                      P = sockets_.size();
    std::vector<std::deque<Outgoing>> to(P);
    std::vector<std::deque<Incoming>> from(P);
    for (const Outgoing& m : out)
      if (m.bytes > 0) to[static_cast<size_t>(m.to)].push_back(m);
    for (const Incoming& m : in)
      if (m.bytes > 0) from[static_cast<size_t>(m.from)].push_back(m);
    while (true) {
      std::vector<pollfd> waits;
      std::vector<size_t> peers;
      for (size_t p = 0; p < P; ++p) {
        const int events = (to[p].empty() ? 0 : POLLOUT) | (from[p].empty() ? 0 : POLLIN);
        if (events == 0) continue;
        waits.push_back({sockets_[p], static_cast<short>(events), 0});
        peers.push_back(p);
      }
      if (waits.empty()) return;
      ::poll(waits.data(), waits.size(), -1);
      for (size_t i = 0; i < waits.size(); ++i) {
        auto& sends    = to[peers[i]];
        auto& receives = from[peers[i]];
        if ((waits[i].revents & (POLLOUT | POLLERR | POLLHUP)) != 0 && !sends.empty())
          move_on(sends, ::send(waits[i].fd, sends.front().data, sends.front().bytes, MSG_NOSIGNAL | MSG_DONTWAIT),
                  peers[i]);
        if ((waits[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0 && !receives.empty())
          move_on(receives, ::recv(waits[i].fd, receives.front().data, receives.front().bytes, MSG_DONTWAIT), peers[i]);
      }
    }
  }

  void abandon(const std::string&) override { ::_exit(1); }

 private:
  template <class Queue>
  static void move_on(Queue& queue, ssize_t moved, size_t peer) {
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return;
    require(moved > 0, "rank {} has ended.", peer);
    queue.front().data += moved;
    queue.front().bytes -= static_cast<size_t>(moved);
    if (queue.front().bytes == 0) queue.pop_front();
  }

  int              rank_;
  std::vector<int> sockets_;
};

}  // namespace

std::vector<Forked> run_forked(int size, const std::function<void(const std::shared_ptr<Group>&)>& work) {
  const auto                    P = static_cast<size_t>(size);
  std::vector<std::vector<int>> sockets(P, std::vector<int>(P, -1));
  for (size_t a = 0; a < P; ++a)
    for (size_t b = a + 1; b < P; ++b) {
      std::array<int, 2> pair{};
      ensure(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0, "socketpair failed");
      sockets[a][b] = pair[0];
      sockets[b][a] = pair[1];
    }
  std::vector<pid_t> children;
  std::vector<int>   words;
  for (size_t r = 0; r < P; ++r) {
    std::array<int, 2> pipe{};
    ensure(::pipe(pipe.data()) == 0, "pipe failed");
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 0;
      for (size_t other = 0; other < P; ++other)
        for (const int fd : sockets[other])
          if (other != r && fd >= 0) ::close(fd);
      try {
        work(std::make_shared<SocketGroup>(static_cast<int>(r), sockets[r]));
      } catch (const std::exception& error) {
        (void)!::write(pipe[1], error.what(), std::string(error.what()).size());
        status = 1;
      }
      ::_exit(status);
    }
    ::close(pipe[1]);
    children.push_back(child);
    words.push_back(pipe[0]);
  }
  for (const auto& mine : sockets)
    for (const int fd : mine)
      if (fd >= 0) ::close(fd);
  std::vector<Forked> out(P);
  for (size_t r = 0; r < P; ++r) {
    std::array<char, 4096> text{};
    for (ssize_t n = 0; (n = ::read(words[r], text.data(), text.size())) > 0;)
      out[r].error.append(text.data(), static_cast<size_t>(n));
    ::close(words[r]);
    int status = 0;
    ::waitpid(children[r], &status, 0);
    out[r].status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }
  return out;
}

void work_forked(int size, const std::function<void(const std::shared_ptr<Group>&)>& work) {
  for (const Forked& f : run_forked(size, work))
    if (f.status != 0) throw std::runtime_error("a rank failed: " + f.error);
}

}  // namespace braintrace::parallel
