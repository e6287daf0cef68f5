// SPDX-License-Identifier: Apache-2.0
#include "braintrace/sweep/children.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braintrace/base/error.h"
#include "braintrace/io/stop_signals.h"

namespace braintrace::sweep {

namespace {

using Clock = std::chrono::steady_clock;

bool redirect(const std::string& path, int fd) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file >= 0 && ::dup2(file, fd) >= 0;
}

// The whole life of a child.
[[noreturn]] void live(const Child& child, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  ::setpgid(0, 0);  // a terminal's Ctrl-C goes to the parent, which passes it on once
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  if (!redirect(child.output, STDOUT_FILENO) || !redirect(child.errors, STDERR_FILENO)) ::_exit(2);
  ::_exit(child.work());
}

}  // namespace

Children::~Children() {
  stop(SIGTERM);
  while (!running_.empty()) wait(1);
}

void Children::start(const Child& child) {
  std::fflush(nullptr);  // else the child would print once more what is not written yet
  // Signals wait until they end the child at once, as they do before its work has begun to handle them itself.
  sigset_t all, usual;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &usual);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) {
    for (int s : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2})
      if (std::signal(s, SIG_DFL) == SIG_IGN) std::signal(s, SIG_IGN);  // as under nohup
    pthread_sigmask(SIG_SETMASK, &usual, nullptr);
    live(child, parent);
  }
  const int reason = errno;
  pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  require(pid > 0, ErrorKind::State, "cannot start a process: {}.", std::strerror(reason));
  running_.push_back({child.piece, pid});
  if (is_stopped_) ::kill(pid, SIGTERM);
}

std::vector<size_t> Children::pieces() const {
  std::vector<size_t> out;
  for (const Process& p : running_) out.push_back(p.piece);
  return out;
}

std::vector<Ended> Children::wait(double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<Ended> out;
  const bool         was_asked = StopSignals::asked() != 0;
  while (true) {
    for (auto p = running_.begin(); p != running_.end();) {
      int status = 0;
      if (::waitpid(p->pid, &status, WNOHANG) == p->pid) {
        out.push_back(
            {p->piece, WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0});
        p = running_.erase(p);
      } else {
        ++p;
      }
    }
    if (!out.empty() || running_.empty() || Clock::now() >= end || (!was_asked && StopSignals::asked())) return out;
    ::usleep(20'000);
  }
}

void Children::stop(int signal) {
  if (!is_stopped_)
    for (const Process& p : running_) ::kill(p.pid, signal);
  is_stopped_ = true;
}

}  // namespace braintrace::sweep
