// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braintrace/base/error.h"

namespace braintrace {

namespace {

namespace fs = std::filesystem;

std::string this_process() {
  char              host[256] = "", clock[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm           parts{};
  ::gethostname(host, sizeof host - 1);
  std::strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S UTC", ::gmtime_r(&now, &parts));
  return fmt::format("process {} on {}, since {}\n", ::getpid(), host, clock);
}

std::string first_line(int fd) {
  char          text[400];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  std::string   line(text, n > 0 ? static_cast<size_t>(n) : 0);
  line.resize(std::min(line.find('\n'), line.size()));
  for (char c : line)
    if (c < ' ' || c > '~') return "";  // not ours
  return line;
}

}  // namespace

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  require(!error && fs::is_directory(path, error), ErrorKind::File, "{}: cannot create this folder: {}.", path,
          error ? error.message() : "there is a file of that name");
  require(::access(path.c_str(), W_OK | X_OK) == 0, ErrorKind::File, "{}: cannot write into this folder.", path);
}

void ProcessLock::take(const std::string& path, const std::string& busy, const char* place) {
  const int flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  fd_             = ::open(path.c_str(), O_RDWR | flags, 0666);
  if (fd_ < 0 && errno == EACCES) fd_ = ::open(path.c_str(), O_RDONLY | flags, 0666);  // of another user
  require(fd_ >= 0, ErrorKind::File, "{}: cannot open this file, which keeps other processes out: {}.", path,
          std::strerror(errno));
  struct stat info {};
  const bool  is_file = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
  require(is_file, ErrorKind::File,
          "{}: expected a regular file, which keeps other processes out; remove what is there.", path);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    const std::string who = first_line(fd_);
    fail(ErrorKind::File, "{}: {}.\n  Wait for its end, stop it, or choose another {}.", busy,
         who.empty() ? "it does not name itself" : who, place);
  }
  const std::string who = this_process();
  if (::ftruncate(fd_, 0) == 0) (void)!::pwrite(fd_, who.data(), who.size(), 0);
}

ProcessLock::~ProcessLock() {
  if (fd_ >= 0) ::close(fd_);
}

FolderLock::FolderLock(const std::string& folder) {
  take(folder + "/.lock", folder + ": another run uses this folder", "folder");
}

FileLock::FileLock(const std::string& path) {
  std::error_code error;
  const fs::path  file = fs::weakly_canonical(path, error);
  if (error || (fs::exists(file, error) && !fs::is_regular_file(file, error))) return;
  take((file.parent_path() / ("." + file.filename().string() + ".lock")).string(),
       path + ": another process writes this file", "file");
}

}  // namespace braintrace
