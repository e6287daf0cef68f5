// SPDX-License-Identifier: Apache-2.0
// The cache of compiled files in $BRAINTRACE_CACHE_DIR, or `braintrace` under $XDG_CACHE_HOME or ~/.cache.
//
//   NAME.so, NAME.sum   machine code, and a hash of its bytes
//   work.…/             work folder of a compiler, locked by its process; unlocked if that process was killed
//
// The folder must belong to this user alone. Files are renamed into place, so a process never sees unfinished files of
// another. The total size is limited to $BRAINTRACE_CACHE_MIB (default: 1024); least recently used files are removed
// first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace braintrace::cpu {

class CodeCache {
 public:
  CodeCache();  // creates the folder if it does not exist

  const std::filesystem::path& folder() const { return folder_; }  // empty if it cannot be used
  int64_t                      bound() const { return bound_; }    // in bytes

  // The path of a cached file if its hash matches, which counts as a use; otherwise empty.
  std::filesystem::path find(const std::string& name) const;
  // Adds a finished file. Returns an error message, or an empty string.
  std::string keep(const std::string& name, const std::filesystem::path& made) const;

  struct Contents {
    int64_t files = 0, bytes = 0;
    double  oldest_use = 0;  // seconds ago
    int64_t left_over  = 0;  // work folders of killed compilers
  };
  Contents contents() const;
  // Removes leftovers of killed compilers, and least recently used files until at most `most` bytes remain. Returns the
  // number of files removed.
  int64_t shrink(int64_t most) const;

 private:
  std::filesystem::path folder_;
  int64_t               bound_;
};

// A work folder for one compiler run, removed with its contents.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& parent);
  ~WorkFolder();
  WorkFolder(const WorkFolder&)            = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty if it could not be created

 private:
  std::filesystem::path path_;
  int                   lock_ = -1;
};

// Reads and writes small files of the cache; an empty text if the file does not exist.
std::string contents_of(const std::filesystem::path& path);
bool        write_contents(const std::filesystem::path& path, std::string_view text);
uint64_t    hash_of(std::string_view text, uint64_t seed = 14695981039346656037ULL);  // FNV-1a

}  // namespace braintrace::cpu
