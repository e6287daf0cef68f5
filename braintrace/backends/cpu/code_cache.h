// SPDX-License-Identifier: Apache-2.0
// The folder of compiled files: $BRAINTRACE_CACHE_DIR, or `braintrace` under $XDG_CACHE_HOME or ~/.cache.
//
//   NAME.so, NAME.sum   machine code, and the hash of its bytes
//   work.…/             where a compiler works; locked by its process, so what nobody holds was left by a killed one
//
// The folder must belong to this user alone. Files appear by renaming, so processes never see each other's unfinished
// work. All together they take at most $BRAINTRACE_CACHE_MIB (1024 unless set); those not used for longest go first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace braintrace::cpu {

class CodeCache {
 public:
  CodeCache();  // the folder is made where there is none

  const std::filesystem::path& folder() const { return folder_; }  // empty when it cannot be used
  int64_t                      bound() const { return bound_; }    // bytes

  // The file of a name when its bytes are those that were written, which counts as a use; else empty.
  std::filesystem::path find(const std::string& name) const;
  // Takes a finished file in; returns why it could not.
  std::string keep(const std::string& name, const std::filesystem::path& made) const;

  struct Contents {
    int64_t files = 0, bytes = 0;
    double  oldest_use = 0;  // seconds ago
    int64_t left_over  = 0;  // folders of compilers that were killed
  };
  Contents contents() const;
  // Removes what killed compilers left, and the files not used for longest until `most` bytes are left. Returns the
  // number of files removed.
  int64_t shrink(int64_t most) const;

 private:
  std::filesystem::path folder_;
  int64_t               bound_;
};

// A folder for one compiler, removed with all that is in it.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& parent);
  ~WorkFolder();
  WorkFolder(const WorkFolder&)            = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty when none could be made

 private:
  std::filesystem::path path_;
  int                   lock_ = -1;
};

// Small files of this folder; an empty text when there is none.
std::string contents_of(const std::filesystem::path& path);
bool        write_contents(const std::filesystem::path& path, std::string_view text);
uint64_t    hash_of(std::string_view text, uint64_t seed = 14695981039346656037ULL);  // FNV-1a

}  // namespace braintrace::cpu
