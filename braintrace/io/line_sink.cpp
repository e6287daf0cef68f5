// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/line_sink.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <climits>

#include "braintrace/base/error.h"
#include "braintrace/io/stop_signals.h"

namespace braintrace {

namespace {

constexpr int grace_milliseconds = 1000;

bool has_room(int fd) {
  pollfd p{fd, POLLOUT, 0};
  return ::poll(&p, 1, 0) > 0 || wait_for(fd, POLLOUT) == Wait::Ready || ::poll(&p, 1, grace_milliseconds) > 0;
}

}  // namespace

LineSink::Result LineSink::write(std::string_view line) const {
  while (!line.empty()) {
    if (!has_room(fd_)) return Result::Stopped;
    // A pipe with space takes this much without blocking, so a signal never interrupts a long write.
    const ssize_t n = ::write(fd_, line.data(), std::min<size_t>(line.size(), PIPE_BUF));
    if (n < 0 && errno == EPIPE) return Result::NobodyReads;
    require(n >= 0 || errno == EINTR || errno == EAGAIN, "the output could not be written: {}.", std::strerror(errno));
    if (n > 0) line.remove_prefix(static_cast<size_t>(n));
  }
  return Result::Written;
}

void LineSink::try_write(std::string_view words) const noexcept {
  try {
    write(words);
  } catch (const UserError&) {
  }
}

}  // namespace braintrace
