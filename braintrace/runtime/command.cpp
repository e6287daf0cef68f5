// SPDX-License-Identifier: Apache-2.0
#include "braintrace/runtime/command.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "braintrace/base/process_mutex.h"

extern char** environ;

namespace braintrace {

namespace {

using Clock = std::chrono::steady_clock;

// Running process groups, for signal handlers: only atomic numbers. A process group for which there is no slot cannot
// be stopped.
std::array<std::atomic<pid_t>, 64> running{};
std::atomic<bool>                  is_stopped{false};
std::atomic<int>                   starting{0};     // programs that may run already and are not among them yet
std::atomic<int>                   last_signal{0};  // ends this process as soon as none is starting

void kill_group(pid_t group) { ::kill(-group, SIGKILL); }

void end_this_process() {
  std::signal(last_signal, SIG_DFL);
  ::raise(last_signal);  // at once, or when its handler returns
}

// While a command starts, a signal would end this process but not the command, so signals are blocked.
class Starting {
 public:
  Starting() { ++starting; }
  ~Starting() {
    if (--starting == 0 && last_signal != 0) end_this_process();
  }
  Starting(const Starting&)            = delete;
  Starting& operator=(const Starting&) = delete;
};

class Registered {
 public:
  explicit Registered(pid_t group) : group_(group) {
    for (auto& place : running)
      if (pid_t none = 0; place.compare_exchange_strong(none, group)) return;
  }
  ~Registered() {
    for (auto& place : running)
      if (pid_t mine = group_; place.compare_exchange_strong(mine, 0)) return;
  }
  Registered(const Registered&)            = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  pid_t group_;
};

// Signals whose default action would end this process but not the processes it started.
class Guard {
 public:
  Guard() {
    const std::lock_guard lock(mutex);
    if (count++ > 0) return;
    for (size_t i = 0; i < signals.size(); ++i) {
      struct sigaction ours {};
      ours.sa_handler = end_all;
      ::sigaction(signals[i], nullptr, &before[i]);
      replaced[i] = !(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_DFL &&
                    ::sigaction(signals[i], &ours, nullptr) == 0;
    }
  }
  ~Guard() {
    const std::lock_guard lock(mutex);
    if (--count > 0) return;
    for (size_t i = 0; i < signals.size(); ++i)
      if (replaced[i]) ::sigaction(signals[i], &before[i], nullptr);
  }
  Guard(const Guard&)            = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  static void end_all(int number) {
    stop_commands();
    last_signal = number;  // before the look at the other number, which Starting changes before its look at this one
    if (starting == 0) end_this_process();
  }

  static constexpr std::array<int, 4>                        signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static inline ProcessMutex                                 mutex;
  static inline int                                          count = 0;
  static inline std::array<struct sigaction, signals.size()> before{};
  static inline std::array<bool, signals.size()>             replaced{};
};

// True when it has ended, which leaves its number taken until waitpid; false when the time is over.
bool wait_for(pid_t pid, Clock::time_point limit) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // older kernels have none: then we ask
  bool      ended  = false;
  for (;;) {
    siginfo_t info{};
    ended = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (ended || left <= 0) break;
    pollfd ready{handle, POLLIN, 0};
    ::poll(&ready, handle >= 0 ? 1 : 0, handle >= 0 ? static_cast<int>(std::min<int64_t>(left, 1000)) : 5);
  }
  if (handle >= 0) ::close(handle);
  return ended;
}

std::vector<std::string> environment_with(const std::string& folder) {
  std::vector<std::string> out;
  for (char** v = environ; *v; ++v)
    if (std::strncmp(*v, "TMPDIR=", 7) != 0) out.emplace_back(*v);
  out.push_back("TMPDIR=" + folder);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

int start(pid_t& pid, std::vector<std::string> words, const std::string& output, const std::string& folder) {
  auto                       around = environment_with(folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;  // its own process group, with default signal handling
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int failed =
      posix_spawn(&pid, words[0].c_str(), &actions, &attributes, pointers(words).data(), pointers(around).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& words, const std::string& output, const std::string& folder,
                          double seconds) {
  const Guard guard;
  const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  pid_t      pid   = 0;
  std::optional<Registered> registered;
  {
    const Starting here;
    if (is_stopped) return {CommandEnd::Stopped, {}};
    if (const int failed = start(pid, words, output, folder))
      return {CommandEnd::Failed, fmt::format("could not be started: {}", std::strerror(failed)), false};
    registered.emplace(pid);
    if (is_stopped) kill_group(pid);
  }
  // If this process is killed, the command still ends, when its processor time reaches the limit.
  const auto   most = static_cast<rlim_t>(std::ceil(seconds)) + 1;
  const rlimit processor{most, most};
  ::prlimit(pid, RLIMIT_CPU, &processor, nullptr);
  const bool in_time = wait_for(pid, limit);
  kill_group(pid);     // what it started ends with it
  registered.reset();  // while its number is still taken
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_stopped) return {CommandEnd::Stopped, {}};
  if (!in_time) return {CommandEnd::TooLong, {}};
  if (status == 0) return {CommandEnd::Done, {}};
  return {CommandEnd::Failed, WIFSIGNALED(status) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                                                ::strsignal(WTERMSIG(status)))
                                                  : fmt::format("exited with status {}", WEXITSTATUS(status))};
}

void stop_commands(bool stop) {
  is_stopped = stop;
  if (!stop) return;
  for (auto& place : running)
    if (const pid_t group = place) kill_group(group);
}

bool commands_are_stopped() { return is_stopped; }

}  // namespace braintrace
