// SPDX-License-Identifier: Apache-2.0
// Writes lines to a file descriptor, each immediately. If the reader does not read, the writer waits, until a stop
// signal arrives.
#pragma once

#include <cstdint>
#include <string_view>

namespace braintrace {

class LineSink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}

  // NobodyReads: the reader has closed the pipe. Stopped: a stop signal arrived while the reader did not read, nor did
  // it within one second; the rest of the line is lost. Throws UserError for errors of the system, such as a full disk.
  enum class Result : uint8_t { Written, NobodyReads, Stopped };
  Result write(std::string_view line) const;
  // For messages to people: if a message cannot be written, it is lost, and the work continues.
  void try_write(std::string_view words) const noexcept;

 private:
  int fd_;
};

}  // namespace braintrace
