// SPDX-License-Identifier: Apache-2.0
// Sources of records: lines of a file descriptor, or datagrams on a port of this machine. Memory is bounded by the
// longest allowed record; a longer one is skipped and reported.
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
  std::string_view text;        // valid until the next call
  bool             too_long = false;
};

// The result of waiting: a line, a timeout, or the end of the input or a stop signal (StopSignals).
enum class Arrival : uint8_t { Line, Nothing, End };

class LineSource {
 public:
  virtual ~LineSource() = default;
  // Without a time, there is no limit.
  virtual Arrival next(Line& line, std::optional<std::chrono::nanoseconds> longest = {}) = 0;
};

std::unique_ptr<LineSource> lines_of(int fd, size_t most_bytes);

// One record per datagram, on 127.0.0.1 only. Port 0 picks a free port, which `port` returns.
class Datagrams : public LineSource {
 public:
  virtual int port() const = 0;
};
std::unique_ptr<Datagrams> datagrams_on(int port, size_t most_bytes);

}  // namespace braintrace::stream
