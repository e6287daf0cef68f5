// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/stop_signals.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <iterator>
#include <poll.h>

#include "braintrace/runtime/command.h"

namespace braintrace {

namespace {

constexpr int     stops[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2};
constexpr int64_t at_once = 1'000'000'000;  // ns in which a signal that comes again is the same one

// Data that the signal handler uses.
std::atomic<int>     first_signal{0};
std::atomic<int64_t> first_time{0};
std::atomic<bool>    is_unsaved{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

int64_t now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void ask_to_stop(int number) {
  if (first_time == 0) first_time = now();
  stop_commands();  // the step at hand does not wait for a compiler
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number) || is_unsaved || now() - first_time < at_once) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // ends the process when this handler returns
}

struct sigaction before[std::size(stops)];

timespec timespec_of(std::chrono::nanoseconds t) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(t);
  return {whole.count(), (t - whole).count()};
}

}  // namespace

StopSignals::StopSignals() {
  first_signal = 0;
  first_time   = 0;
  is_unsaved   = false;
  stop_commands(false);
  struct sigaction action {};
  action.sa_handler = ask_to_stop;  // calls that wait are interrupted: no SA_RESTART
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(stops); ++i) {
    ::sigaction(stops[i], nullptr, &before[i]);
    if (stops[i] != SIGHUP || before[i].sa_handler != SIG_IGN) ::sigaction(stops[i], &action, nullptr);
  }
  for (int s : {SIGPIPE, SIGXFSZ}) std::signal(s, SIG_IGN);
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(stops); ++i) ::sigaction(stops[i], &before[i], nullptr);
}

int  StopSignals::asked() { return first_signal; }
void StopSignals::set_unsaved(bool unsaved) { is_unsaved = unsaved; }

Wait wait_for(int fd, short events, std::optional<std::chrono::nanoseconds> longest) {
  using Clock    = std::chrono::steady_clock;
  const auto end = Clock::now() + longest.value_or(std::chrono::nanoseconds{0});
  // Signals are blocked between the check of the flag and the wait, so that none is missed.
  sigset_t held, usual;
  sigemptyset(&held);
  for (int s : stops) sigaddset(&held, s);
  pthread_sigmask(SIG_BLOCK, &held, &usual);
  Wait result = Wait::Stopped;
  while (!first_signal) {
    pollfd         p{fd, events, 0};
    const timespec left  = timespec_of(std::max(end - Clock::now(), Clock::duration::zero()));
    const int      ready = ::ppoll(&p, 1, longest ? &left : nullptr, &usual);
    if (ready < 0 && errno == EINTR) continue;
    result = ready == 0 ? Wait::TimedOut : Wait::Ready;  // the call that follows tells what is wrong with a descriptor
    break;
  }
  pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  return result;
}

}  // namespace braintrace
