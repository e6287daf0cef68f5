// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "braintrace/base/error.h"

namespace braintrace::data {

Source::Source(const std::string& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not make us wait
  require(descriptor >= 0, "{}: cannot be opened: {}.", path, std::strerror(errno));
  file_ = std::shared_ptr<int>(new int(descriptor), [](int* d) {
    ::close(*d);
    delete d;
  });
  struct stat status {};
  require(::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode),
          "{}: expected a regular file, got a folder, pipe or device.", path);
  size_ = status.st_size;
}

Bytes Source::read(int64_t offset, int64_t count, const char* what) const {
  if (offset < 0 || count < 0 || offset > size_ || count > size_ - offset)
    refuse(path_, offset, fmt::format("{} ({} bytes)", what, count),
           fmt::format("{} bytes to the end of the file", std::max<int64_t>(0, size_ - offset)));
  Bytes out(static_cast<size_t>(count));
  for (int64_t done = 0; done < count;) {
    const ssize_t n = ::pread(*file_, out.data() + done, static_cast<size_t>(count - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    require(n > 0, "{}: at byte {}: cannot be read: {}.", path_, offset + done,
            n == 0 ? "the file became shorter" : std::strerror(errno));
    done += n;
  }
  return out;
}

void refuse(const std::string& file, int64_t offset, const std::string& expected, const std::string& found) {
  fail("{}: at byte {}: expected {}, found {}.", file, offset, expected, found);
}

std::vector<std::string> entries(const std::string& folder, const std::string& suffix) {
  std::error_code          error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (const std::string name = entry.path().filename(); name.ends_with(suffix)) names.push_back(name);
  require(!error, "{}: the folder cannot be read: {}.", folder, error.message());
  std::sort(names.begin(), names.end());
  return names;
}
bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}
bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace braintrace::data
