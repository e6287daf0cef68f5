// SPDX-License-Identifier: Apache-2.0
// Where records come from: lines of a file descriptor, or datagrams on a port of this machine. Memory is bounded by the
// longest record allowed; a longer one is passed over and said to be too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace braintrace::stream {

struct Line {
  int64_t          number = 0;  // from 1
  std::string_view text;        // until the next call
  bool             too_long = false;
};

// What came: a line, nothing in the time given, or the end of the input or a signal that asks to stop (StopSignals).
enum class Arrival : uint8_t { Line, Nothing, End };

class LineSource {
 public:
  virtual ~LineSource() = default;
  // Waits as long as it takes where no time is given.
  virtual Arrival next(Line& line, std::optional<std::chrono::nanoseconds> longest = {}) = 0;
};

std::unique_ptr<LineSource> lines_of(int fd, size_t most_bytes);

// One record per datagram, on 127.0.0.1 only. Port 0 takes a free one, which `port` then says.
class Datagrams : public LineSource {
 public:
  virtual int port() const = 0;
};
std::unique_ptr<Datagrams> datagrams_on(int port, size_t most_bytes);

}  // namespace braintrace::stream
