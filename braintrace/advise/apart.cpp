// SPDX-License-Identifier: Apache-2.0
#include "braintrace/advise/apart.h"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braintrace/compiler/diagnostics.h"

namespace braintrace {

namespace {

int64_t status_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stoll(line.substr(std::strlen(field)));
  return 0;
}

void limit(int resource, int64_t most) {
  const rlimit r{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  if (most > 0) ::setrlimit(static_cast<__rlimit_resource>(resource), &r);
}

constexpr char done = 'd', refused = 'r';  // before the result, or before the words of an error

std::string outcome_of(const std::function<std::string()>& work) {
  try {
    return done + work();
  } catch (const UserError& error) {
    return refused + std::string(error.what());
  } catch (const CompileError& error) {
    return refused + std::string(error.what());
  } catch (const std::bad_alloc&) {
    return refused + std::string("it does not fit in memory");
  }
}

void write_all(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<size_t>(n);
  }
}

std::string read_all(int fd) {
  std::string out;
  char        part[4096];
  for (ssize_t n = 1; n != 0;) {
    n = ::read(fd, part, sizeof part);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) out.append(part, static_cast<size_t>(n));
  }
  return out;
}

}  // namespace

std::string run_apart(const std::function<std::string()>& work, const ApartLimits& limits) {
  int ends[2];
  require(::pipe(ends) == 0, "cannot open a pipe: {}.", std::strerror(errno));
  const pid_t parent = ::getpid(), child = ::fork();
  require(child >= 0, "cannot start a process: {}.", std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);     // the result of a child is useless if its parent has ended
    if (::getppid() != parent) ::_exit(1);  // it went before the line above
    limit(RLIMIT_CPU, limits.seconds);
    limit(RLIMIT_AS, limits.bytes);
    limit(RLIMIT_CORE, 1);
    write_all(ends[1], outcome_of(work));
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string outcome = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (outcome.empty())
    fail("it {}", WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
                      ? fmt::format("takes more than {} s to compile, or does not fit in memory", limits.seconds)
                      : "could not be compiled: its process exited early");
  require(outcome[0] == done, "{}", outcome.substr(1));
  return outcome.substr(1);
}

int64_t resident_bytes() { return status_bytes("VmRSS:"); }
int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace braintrace
