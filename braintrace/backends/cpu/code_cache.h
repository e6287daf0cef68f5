// SPDX-License-Identifier: Apache-2.0
// The cache of compiled files in $BRAINTRACE_CACHE_DIR, or `braintrace` under $XDG_CACHE_HOME or ~/.cache.
//
//   NAME.so, NAME.sum   machine code, and a hash of its bytes
//   work.…/             work folder of a compiler, locked by its process; unlocked if that process was killed
//
// The folder must belong to this user, and others must not be able to write to it. Files appear by renaming, so
// processes never see each other's unfinished work. All together they take at most $BRAINTRACE_CACHE_MIB (1024 unless
// set); those not used for longest go first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace braintrace::cpu {

class CodeCache {
 public:
  CodeCache();  // creates the folder if it does not exist

  const std::filesystem::path& folder() const { return folder_; }    // empty when it cannot be used
  const std::string&           problem() const { return problem_; }  // why it cannot be used
  int64_t                      bound() const { return bound_; }      // bytes

  // The file of a name when its bytes are those that were written, which counts as a use; else empty. Warns once if the
  // folder cannot be used.
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
  std::string           problem_;
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
