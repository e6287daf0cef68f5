// SPDX-License-Identifier: Apache-2.0
// Where answers go: lines to a file descriptor, each at once.
#pragma once

#include <cstdint>
#include <string_view>

namespace braintrace::stream {

class LineSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}

  // NobodyReads: the reader has gone. Stopped: a signal asked to stop while the reader did not read, nor in the second
  // after it; the rest of the line is lost. Throws UserError for what the system says, such as a full disk.
  enum class Result : uint8_t { Written, NobodyReads, Stopped };
  Result write(std::string_view line) const;

 private:
  int fd_;
};

}  // namespace braintrace::stream
