// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Errors are UserErrors that name the file and the system's reason.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace braintrace {

using ByteSpan = std::span<const std::byte>;
using Bytes    = std::vector<std::byte>;

// Memory read from a file, aligned to 64 bytes, so that arrays can borrow from it.
struct Buffer {
  std::shared_ptr<std::byte> data;
  size_t                     size = 0;

  static Buffer allocate(size_t size);
  ByteSpan      span() const { return {data.get(), size}; }
};

Buffer      read_file(const std::string& path);
std::string read_text(const std::string& path);

// The one way a whole file goes out. Symbolic links are followed. What is not a regular file (a device, a pipe) is
// written into. A regular file is replaced in one step: the bytes go to a temporary file in the same folder, reach the
// disk, and take the name, with the mode and owner of the file that was there. When anything fails, an existing file is
// untouched and the temporary one is gone.
void write_file(const std::string& path, ByteSpan bytes);
void write_text(const std::string& path, std::string_view text);

// Throws what write_file would before it writes a byte, and leaves nothing.
void check_writable(const std::string& path);

// Removes temporary files of write_file(path) whose process was killed before the last step.
void remove_leftovers(const std::string& path);

}  // namespace braintrace
