// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Errors are UserErrors that name the file and the system's reason.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
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

Buffer read_file(const std::string& path);

// Replaces the file in one step: the bytes go to a temporary file in the same folder, reach the disk, and take the
// name. When anything fails, an existing file is untouched and the temporary one is gone.
void write_file(const std::string& path, ByteSpan bytes);

// Removes temporary files of write_file(path) whose process was killed before the last step.
void remove_leftovers(const std::string& path);

}  // namespace braintrace
