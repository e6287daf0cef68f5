// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "braintrace/base/error.h"

namespace braintrace {

namespace {

constexpr std::align_val_t alignment{64};

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&)            = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int  get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

[[noreturn]] void failed(const std::string& path, const char* action) {
  const int reason = errno;
  fail("{}: cannot {} the file: {}.", path, action, std::strerror(reason));
}

// Removes a temporary file unless it has been renamed.
struct Removal {
  std::string path;
  ~Removal() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

// A rename is on the disk once its folder is.
void sync_folder(const std::string& path) {
  const size_t slash  = path.rfind('/');
  const auto   folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  Descriptor   d(folder, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder and say EINVAL; the file itself is safe by then.
  if (!d.is_open() || (::fsync(d.get()) != 0 && errno != EINVAL)) failed(folder, "sync");
}

}  // namespace

Buffer Buffer::allocate(size_t size) {
  auto* p = static_cast<std::byte*>(::operator new(std::max<size_t>(size, 1), alignment));
  return {{p, [](std::byte* q) { ::operator delete(q, alignment); }}, size};
}

Buffer read_file(const std::string& path) {
  Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a named pipe must not make us wait
  if (!file.is_open()) failed(path, "open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) failed(path, "inspect");
  require(S_ISREG(info.st_mode), "{}: expected a regular file, got a folder, pipe or device.", path);
  Buffer buffer = Buffer::allocate(static_cast<size_t>(info.st_size));
  for (size_t done = 0; done < buffer.size;) {
    const ssize_t n = ::read(file.get(), buffer.data.get() + done, buffer.size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(path, "read");
    require(n > 0, "{}: the file became shorter while it was read.", path);
    done += static_cast<size_t>(n);
  }
  return buffer;
}

void write_file(const std::string& path, ByteSpan bytes) {
  static std::atomic<unsigned> count{0};
  Removal                      temporary{fmt::format("{}.{}.{}.tmp", path, ::getpid(), count++)};
  Descriptor                   file(temporary.path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) {
    temporary.path.clear();
    failed(path, "create");
  }
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(path, "write");
    done += static_cast<size_t>(n);
  }
  if (::fsync(file.get()) != 0 || !file.close()) failed(path, "write");
  if (::rename(temporary.path.c_str(), path.c_str()) != 0) failed(path, "replace");
  temporary.path.clear();
  sync_folder(path);
}

void remove_leftovers(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path    file(path);
  const std::string start = file.filename().string() + ".";
  std::error_code   error;
  for (fs::directory_iterator it(file.has_parent_path() ? file.parent_path() : ".", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name    = it->path().filename().string();
    int               process = 0;
    unsigned          count   = 0;
    if (!name.starts_with(start)) continue;
    if (std::sscanf(name.c_str() + start.size(), "%d.%u", &process, &count) != 2 || process <= 0) continue;
    if (name != fmt::format("{}{}.{}.tmp", start, process, count)) continue;
    if (::kill(process, 0) != 0 && errno == ESRCH) ::unlink(it->path().c_str());
  }
}

}  // namespace braintrace
