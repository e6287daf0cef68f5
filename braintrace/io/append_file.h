// SPDX-License-Identifier: Apache-2.0
// A file that grows by whole records. One that does not fit on the disk is taken back, so that the file always ends
// with a whole record. Errors are UserErrors that name the file and the system's reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace braintrace {

class AppendFile {
 public:
  // Keeps the first `keep` bytes of what is there; makes the file when there is none.
  AppendFile(std::string path, int64_t keep);
  ~AppendFile();
  AppendFile(const AppendFile&)            = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append(std::string_view record);

 private:
  std::string path_;
  int         fd_;
  int64_t     size_;
};

}  // namespace braintrace
