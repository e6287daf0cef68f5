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

// The system reads a name up to its first zero byte, which would be another file.
const char* name_of(const std::string& path) {
  require(path.find('\0') == path.npos, ErrorKind::File, "{}: the name of a file cannot contain a zero byte.",
          path.c_str());
  return path.c_str();
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0666)
      : fd_(::open(name_of(path), flags | O_CLOEXEC | O_NOCTTY, mode)) {}
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
  fail(ErrorKind::File, "{}: cannot {} the file: {}.", path, action, std::strerror(reason));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

// A rename is on the disk once its folder is.
void sync_folder(const std::string& folder) {
  Descriptor d(folder, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder and say EINVAL; the file itself is safe by then.
  if (!d.is_open() || (::fsync(d.get()) != 0 && errno != EINVAL)) failed(folder, "sync");
}

void write_all(int file, ByteSpan bytes, const std::string& path) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(path, "write");
    done += static_cast<size_t>(n);
  }
}

// A path with its links resolved; the file itself may be missing.
struct Place {
  std::string path;
  bool        exists = false;
  struct stat info {};

  bool is_replaced() const { return !exists || S_ISREG(info.st_mode); }
};
Place place_of(const std::string& given) {
  Place place{given};
  for (int links = 0;; ++links) {
    if (::lstat(name_of(place.path), &place.info) != 0) {
      if (errno != ENOENT) failed(given, "inspect");
      return place;
    }
    if (!S_ISLNK(place.info.st_mode)) break;
    require(links < 40, ErrorKind::File, "{}: cannot write the file: its symbolic links form a cycle.", given);
    std::string target = std::filesystem::read_symlink(place.path).string();
    place.path         = target.starts_with('/') ? target : folder_of(place.path) + "/" + target;
  }
  place.exists = true;
  require(!S_ISDIR(place.info.st_mode), ErrorKind::File,
          "{}: cannot write the file: this is a folder; name a file in it.", given);
  if (::access(place.path.c_str(), W_OK) != 0) failed(given, "write");
  return place;
}

// A temporary file next to the target, removed unless it replaces the target.
class Replacement {
 public:
  Replacement(const Place& place, const std::string& given)
      : place_(place),
        given_(given),
        path_(fmt::format("{}.{}.{}.tmp", place.path, ::getpid(), count++)),
        file_(path_, O_WRONLY | O_CREAT | O_EXCL, place.exists ? 0600 : 0666) {
    if (!file_.is_open()) failed(given_, "create");
  }
  ~Replacement() {
    if (!is_done_) ::unlink(path_.c_str());
  }
  Replacement(const Replacement&)            = delete;
  Replacement& operator=(const Replacement&) = delete;

  void take_place(ByteSpan bytes) {
    write_all(file_.get(), bytes, given_);
    if (place_.exists) keep_mode();
    if (::fsync(file_.get()) != 0 || !file_.close()) failed(given_, "write");
    if (::rename(path_.c_str(), place_.path.c_str()) != 0) failed(given_, "replace");
    is_done_ = true;
    sync_folder(folder_of(place_.path));
  }

 private:
  // If the owner cannot be kept, only this user may access the file.
  void keep_mode() {
    const struct stat& was  = place_.info;
    const bool         ours = ::fchown(file_.get(), was.st_uid, was.st_gid) == 0;
    if (::fchmod(file_.get(), was.st_mode & (ours ? 07777 : 0700)) != 0) failed(given_, "write");
  }

  static inline std::atomic<unsigned> count{0};

  const Place&       place_;
  const std::string& given_;
  std::string        path_;
  Descriptor         file_;
  bool               is_done_ = false;
};

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
  require(S_ISREG(info.st_mode), ErrorKind::File, "{}: expected a regular file, got a folder, pipe or device.", path);
  Buffer buffer = Buffer::allocate(static_cast<size_t>(info.st_size));
  for (size_t done = 0; done < buffer.size;) {
    const ssize_t n = ::read(file.get(), buffer.data.get() + done, buffer.size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(path, "read");
    require(n > 0, ErrorKind::File, "{}: the file became shorter while it was read.", path);
    done += static_cast<size_t>(n);
  }
  return buffer;
}

std::string read_text(const std::string& path) {
  const Buffer bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data.get()), bytes.size};
}

void write_file(const std::string& path, ByteSpan bytes) {
  const Place place = place_of(path);
  if (place.is_replaced()) return Replacement(place, path).take_place(bytes);
  Descriptor file(place.path, O_WRONLY);
  if (!file.is_open()) failed(path, "open");
  write_all(file.get(), bytes, path);
  if (!file.close()) failed(path, "write");
}

void write_text(const std::string& path, std::string_view text) {
  write_file(path, {reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

void check_writable(const std::string& path) {
  if (const Place place = place_of(path); place.is_replaced()) Replacement(place, path);
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
