// SPDX-License-Identifier: Apache-2.0
// A file to which whole records are appended. A record that does not fit on the disk is removed, so that the file
// always ends with a whole record. Errors are UserErrors that name the file and the reason of the system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace braintrace {

class AppendFile {
 public:
  // Keeps the first `keep` bytes of an existing file; creates the file if there is none.
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
