// SPDX-License-Identifier: Apache-2.0
#include "braintrace/advise/measure.h"

#include <cstring>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "braintrace/base/error.h"

namespace braintrace {

namespace {

int64_t resident_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stoll(line.substr(std::strlen(field)));
  return 0;
}

}  // namespace

std::optional<Measured> measured_apart(const std::function<double()>& work) {
  int ends[2];
  require(::pipe(ends) == 0, "advise: cannot open a pipe: {}.", std::strerror(errno));
  const pid_t child = ::fork();
  require(child >= 0, "advise: cannot start a process: {}.", std::strerror(errno));
  if (child == 0) {
    int status = 1;
    try {
      const int64_t before = resident_bytes("VmRSS:");
      Measured      m;
      m.seconds = work();
      m.memory  = resident_bytes("VmHWM:") - before;
      status    = ::write(ends[1], &m, sizeof m) == sizeof m ? 0 : 1;
    } catch (const std::exception&) {
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  Measured      m;
  const ssize_t n = ::read(ends[0], &m, sizeof m);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return n == sizeof m && status == 0 ? std::optional(m) : std::nullopt;
}

}  // namespace braintrace
