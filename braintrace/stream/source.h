// SPDX-License-Identifier: Apache-2.0
// Where records come from: lines of a file descriptor, or datagrams on a port of this machine. Memory is bounded by the
// longest record allowed; a longer one is passed over and said to be too long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace braintrace::stream {

struct Line {
  int64_t          number = 0;  // from 1
  std::string_view text;        // until the next call
  bool             too_long = false;
};

class LineSource {
 public:
  virtual ~LineSource() = default;
  // False at the end, or when Ctrl-C or a termination signal came while a StopSignal is held.
  virtual bool next(Line& line) = 0;
};

std::unique_ptr<LineSource> lines_of(int fd, size_t most_bytes);

// One record per datagram, on 127.0.0.1 only. Port 0 takes a free one, which `port` then says.
class Datagrams : public LineSource {
 public:
  virtual int port() const = 0;
};
std::unique_ptr<Datagrams> datagrams_on(int port, size_t most_bytes);

// While it is held, the first Ctrl-C or SIGTERM ends the source instead of the process; a second one ends the process.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&)            = delete;
  StopSignal& operator=(const StopSignal&) = delete;
};

}  // namespace braintrace::stream
