// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/append_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braintrace/base/error.h"

namespace braintrace {

AppendFile::AppendFile(std::string path, int64_t keep)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)),
      size_(keep) {
  const auto failed = [&](const char* action) {
    const int reason = errno;
    if (fd_ >= 0) ::close(fd_);
    fail("{}: cannot {} the file: {}.", path_, action, std::strerror(reason));
  };
  if (fd_ < 0) failed("open");
  struct stat info {};
  if (::fstat(fd_, &info) != 0) failed("inspect");
  if (info.st_size != keep && ::ftruncate(fd_, keep) != 0) failed("shorten");
}

AppendFile::~AppendFile() { ::close(fd_); }

void AppendFile::append(std::string_view record) {
  for (size_t done = 0; done < record.size();) {
    const ssize_t n = ::write(fd_, record.data() + done, record.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int reason = errno;
      // Existing records stay whole, as far as the system allows.
      const bool whole = done == 0 || ::ftruncate(fd_, size_) == 0;
      fail("{}: cannot write the file: {}.{}", path_, std::strerror(reason),
           whole ? "" : " Its last line is incomplete.");
    }
    done += static_cast<size_t>(n);
  }
  size_ += static_cast<int64_t>(record.size());
}

}  // namespace braintrace
