// SPDX-License-Identifier: Apache-2.0
// Lines to a file descriptor, each at once. A reader who does not read makes the writer wait, but not beyond a signal
// that asks to stop.
#pragma once

#include <cstdint>
#include <string_view>

namespace braintrace {

class LineSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}

  // NobodyReads: the reader has gone. Stopped: a signal asked to stop while the reader did not read, nor in the second
  // after it; the rest of the line is lost. Throws UserError for what the system says, such as a full disk.
  enum class Result : uint8_t { Written, NobodyReads, Stopped };
  Result write(std::string_view line) const;
  // For words to people: what cannot be written is lost, and the work goes on.
  void try_write(std::string_view words) const noexcept;

 private:
  int fd_;
};

}  // namespace braintrace
