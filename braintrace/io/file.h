// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files. Errors are UserErrors that name the file and the reason of the system.
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

// All whole files are written with this function. It follows symbolic links and writes into devices and pipes. A
// regular file is replaced atomically: the bytes are written to a temporary file in the same folder, flushed to disk,
// and the file is renamed, with the mode and owner of the old file. If anything fails, an existing file is unchanged
// and the temporary file is removed.
void write_file(const std::string& path, ByteSpan bytes);
void write_text(const std::string& path, std::string_view text);

// Throws the same errors as write_file, without writing anything.
void check_writable(const std::string& path);

// Removes temporary files of write_file(path) whose process was killed before the rename.
void remove_leftovers(const std::string& path);

}  // namespace braintrace
