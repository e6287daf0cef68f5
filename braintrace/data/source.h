// SPDX-License-Identifier: Apache-2.0
// A file that is read in pieces, on demand. The error for missing bytes names the file, the offset, what was expected
// and what was found.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "braintrace/io/file.h"

namespace braintrace::data {

class Source {
 public:
  explicit Source(const std::string& path);  // throws UserError if the file is missing or unreadable

  const std::string& path() const { return path_; }
  int64_t            size() const { return size_; }
  // `what` names the piece in messages, such as "an event".
  Bytes read(int64_t offset, int64_t count, const char* what) const;

 private:
  std::string          path_;
  int64_t              size_ = 0;
  std::shared_ptr<int> file_;  // descriptor, closed by the last owner
};

// Throws UserError: "FILE: at byte OFFSET: expected …, found …".
[[noreturn]] void refuse(const std::string& file, int64_t offset, const std::string& expected,
                         const std::string& found);

// Unsigned number of `Size` bytes.
template <int Size>
uint64_t little_endian(const std::byte* p) {
  uint64_t x = 0;
  for (int i = Size - 1; i >= 0; --i) x = x << 8 | std::to_integer<uint64_t>(p[i]);
  return x;
}
template <int Size>
uint64_t big_endian(const std::byte* p) {
  uint64_t x = 0;
  for (int i = 0; i < Size; ++i) x = x << 8 | std::to_integer<uint64_t>(p[i]);
  return x;
}

// Names of the entries of a folder that end in `suffix`, in order; a missing folder is an error.
std::vector<std::string> entries(const std::string& folder, const std::string& suffix = "");
bool                     exists(const std::string& path);
bool                     is_folder(const std::string& path);

}  // namespace braintrace::data
