// SPDX-License-Identifier: Apache-2.0
// Folders that a run writes into.
#pragma once

#include <string>

namespace braintrace {

// Makes a folder and what is missing above it; throws UserError when nothing can be written there.
void make_folder(const std::string& path);

// One process at a time works in a folder. The lock is the kernel's, on the file `.lock` in the folder, so it ends with
// its process, however that ends; the file says who holds it. File systems without locks are not guarded.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);  // UserError that says who is at work there
  FolderLock(FolderLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  int fd_;
};

}  // namespace braintrace
