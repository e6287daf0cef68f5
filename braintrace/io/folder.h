// SPDX-License-Identifier: Apache-2.0
// Folders that a run writes into, and who may write.
#pragma once

#include <string>

namespace braintrace {

// Makes a folder and what is missing above it; throws UserError when nothing can be written there.
void make_folder(const std::string& path);

// One process at a time works at a place. The lock is the kernel's, on a file of its own, so it ends with its process,
// however that ends; the file says who holds it. File systems without locks are not guarded.
class ProcessLock {
 public:
  ProcessLock(ProcessLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ProcessLock& operator=(ProcessLock&&) = delete;
  ~ProcessLock();

 protected:
  ProcessLock() = default;
  // UserError that says who is at work there.
  void take(const std::string& path, const std::string& busy, const char* place);

 private:
  int fd_ = -1;
};
// Of a folder that a run writes into: the file `.lock` in it.
struct FolderLock : ProcessLock {
  explicit FolderLock(const std::string& folder);
};
// Of a file that is replaced again and again: `.NAME.lock` beside it. Devices and pipes are nobody's.
struct FileLock : ProcessLock {
  explicit FileLock(const std::string& path);
};

}  // namespace braintrace
