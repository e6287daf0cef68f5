// SPDX-License-Identifier: Apache-2.0
// Folders that a run writes to, and locks for them.
#pragma once

#include <string>

namespace braintrace {

// Creates a folder and its missing parents; throws UserError if it is not writable.
void make_folder(const std::string& path);

// Ensures that only one process works in a folder or on a file. The lock is a kernel lock on a separate file, so it
// ends with its process, however that ends; the file names the process that holds it. There is no protection on file
// systems without locks.
class ProcessLock {
 public:
  ProcessLock(ProcessLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ProcessLock& operator=(ProcessLock&&) = delete;
  ~ProcessLock();

 protected:
  ProcessLock() = default;
  // Throws a UserError that names the process that holds the lock.
  void take(const std::string& path, const std::string& busy, const char* place);

 private:
  int fd_ = -1;
};
// For a folder that a run writes to: the file `.lock` in it.
struct FolderLock : ProcessLock {
  explicit FolderLock(const std::string& folder);
};
// For a file that is replaced repeatedly: `.NAME.lock` next to it. Devices and pipes are not locked.
struct FileLock : ProcessLock {
  explicit FileLock(const std::string& path);
};

}  // namespace braintrace
