// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/code_cache.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "braintrace/backends/settings.h"
#include "braintrace/base/warning.h"

namespace braintrace::cpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view work_prefix = "work.";

fs::path chosen_folder() {
  if (const fs::path given = settings::variable("BRAINTRACE_CACHE_DIR"); !given.empty()) return given;
  if (const fs::path base = settings::variable("XDG_CACHE_HOME"); !base.empty()) return base / "braintrace";
  const fs::path home = settings::variable("HOME");
  return home.empty() ? home : home / ".cache/braintrace";
}

// Creates the folder if it is missing. Returns why it cannot be used: we load what is in it as machine code, so only
// this user may be able to change it.
std::string problem_of(const fs::path& folder) {
  if (folder.empty()) return "none of BRAINTRACE_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  const int   made = mkdir(folder.c_str(), 0700);
  const int   why  = errno;
  struct stat s {};
  if (stat(folder.c_str(), &s) != 0)
    return fmt::format("{}: cannot create the folder: {}", folder.string(), std::strerror(made == 0 ? errno : why));
  if (!S_ISDIR(s.st_mode)) return fmt::format("{} is not a folder", folder.string());
  if (s.st_uid != geteuid()) return fmt::format("{} belongs to another user", folder.string());
  if ((s.st_mode & 022) != 0)
    return fmt::format("other users can write to {}; chmod go-w takes that away", folder.string());
  return access(folder.c_str(), W_OK | X_OK) == 0 ? "" : fmt::format("{} is read-only", folder.string());
}

struct Kept {
  std::string        name;
  int64_t            bytes;
  fs::file_time_type used;
};
// Least recently used first.
std::vector<Kept> kept_in(const fs::path& folder) {
  std::vector<Kept> out;
  std::error_code   error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".so") continue;
    std::error_code gone;
    const auto      bytes = it->file_size(gone);
    if (gone) continue;
    out.push_back({it->path().stem().string(), static_cast<int64_t>(bytes), it->last_write_time(gone)});
  }
  std::sort(out.begin(), out.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  return out;
}

int locked(const fs::path& folder, int how) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || ::flock(fd, how) == 0) return fd;
  ::close(fd);
  return -1;
}

// Calls f for each work folder that no process has locked.
template <class F>
void each_left_over(const fs::path& folder, F f) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(work_prefix)) continue;
    const int fd = locked(it->path(), LOCK_EX | LOCK_NB);
    if (fd < 0) continue;
    f(it->path());
    ::close(fd);
  }
}

std::string sum_of(const fs::path& code) { return fmt::format("{:016x}", hash_of(contents_of(code))); }

}  // namespace

CodeCache::CodeCache() : folder_(chosen_folder()), problem_(problem_of(folder_)), bound_(settings::cache_mib() << 20) {
  if (!problem_.empty()) folder_.clear();
}

fs::path CodeCache::find(const std::string& name) const {
  if (!problem_.empty())
    warn(fmt::format("compiled code is not kept, so every process compiles again: {}.", problem_), "code cache");
  const fs::path code = folder_ / (name + ".so");
  if (folder_.empty() || contents_of(folder_ / (name + ".sum")) != sum_of(code)) return {};
  ::utimensat(AT_FDCWD, code.c_str(), nullptr, 0);
  return code;
}

std::string CodeCache::keep(const std::string& name, const fs::path& made) const {
  const fs::path sum = made.string() + ".sum";
  if (!write_contents(sum, sum_of(made)))
    return fmt::format("{} could not be written; the disk may be full", sum.string());
  std::error_code error;
  fs::rename(made, folder_ / (name + ".so"), error);
  if (!error) fs::rename(sum, folder_ / (name + ".sum"), error);
  return error ? error.message() : "";
}

CodeCache::Contents CodeCache::contents() const {
  Contents   out;
  const auto all = kept_in(folder_);
  for (const Kept& k : all) out.bytes += k.bytes;
  out.files = std::ssize(all);
  if (!all.empty())
    out.oldest_use = std::chrono::duration<double>(fs::file_time_type::clock::now() - all.front().used).count();
  each_left_over(folder_, [&](const fs::path&) { ++out.left_over; });
  return out;
}

int64_t CodeCache::shrink(int64_t most) const {
  std::error_code error;
  each_left_over(folder_, [&](const fs::path& left) { fs::remove_all(left, error); });
  const auto all   = kept_in(folder_);
  int64_t    bytes = 0, removed = 0;
  for (const Kept& k : all) bytes += k.bytes;
  for (const Kept& k : all) {
    if (bytes <= most) break;
    for (const char* suffix : {".so", ".sum"}) fs::remove(folder_ / (k.name + suffix), error);
    bytes -= k.bytes;
    ++removed;
  }
  return removed;
}

WorkFolder::WorkFolder(const fs::path& parent) {
  std::string name = (parent / (std::string(work_prefix) + "XXXXXX")).string();
  if (parent.empty() || !mkdtemp(name.data())) return;
  lock_ = locked(name, LOCK_EX);
  std::error_code error;
  if (lock_ >= 0 && fs::exists(name, error)) path_ = name;  // otherwise it was removed as a leftover before our lock
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
  if (lock_ >= 0) ::close(lock_);
}

std::string contents_of(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return "";  // a pipe would block, a device may never end
  std::ifstream in(path, std::ios::binary);
  return in ? std::string(std::istreambuf_iterator<char>(in), {}) : "";
}

bool write_contents(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return out.good();
}

uint64_t hash_of(std::string_view text, uint64_t seed) {
  for (unsigned char c : text) seed = (seed ^ c) * 1099511628211ULL;
  return seed;
}

}  // namespace braintrace::cpu
