// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/compiler.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "braintrace/base/error.h"
#include "braintrace/base/temporary_folder.h"

extern char** environ;

namespace braintrace::cpu {

namespace fs = std::filesystem;

namespace {

// IEEE semantics stay: no option here lets the compiler assume that NaN or infinities do not happen, reorder sums, or
// contract products. That traps are not observed lets it turn choices into vector code. One place in the arena holds
// values of several types, one after the other, which compilers may not assume away. Copies of functions for constant
// arguments (ipa-cp) would double the time that matrix products take to compile, and they run no faster. A choice that is
// the same for a whole loop is made before it, also in long ones.
const std::vector<std::string> own_flags = {"-std=gnu11",
                                            "-O3",
                                            "-march=native",
                                            "-fPIC",
                                            "-shared",
                                            "-fno-math-errno",
                                            "-fno-trapping-math",
                                            "-ffp-contract=off",
                                            "-fwrapv",
                                            "-fno-strict-aliasing",
                                            "-fno-semantic-interposition",
                                            "-fno-ipa-cp",
                                            "--param=max-unswitch-insns=300",
                                            "-w"};

uint64_t hash_of(std::string_view text, uint64_t seed = 14695981039346656037ULL) {  // FNV-1a
  for (unsigned char c : text) seed = (seed ^ c) * 1099511628211ULL;
  return seed;
}

std::string contents(const fs::path& path) {
  std::ifstream     in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

std::string environment(const char* name) {
  const char* v = std::getenv(name);
  return v ? v : "";
}

// The program that a name stands for on the search path; empty when there is none.
std::string found(const std::string& name) {
  if (name.find('/') != name.npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  std::stringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (const std::string p = folder + "/" + name; access(p.c_str(), X_OK) == 0 && !fs::is_directory(p)) return p;
  return "";
}

// Those of BRAINTRACE_CFLAGS come last, so they win.
std::vector<std::string> flags() {
  std::vector<std::string> all = own_flags;
  std::stringstream        more(environment("BRAINTRACE_CFLAGS"));
  for (std::string word; more >> word;) all.push_back(word);
  return all;
}

std::string compiler() {
  const std::string asked = environment("BRAINTRACE_CC");
  return found(asked.empty() ? "cc" : asked);
}

// What decides about the machine code besides the source.
std::string circumstances(const std::string& cc) {
  std::error_code none;
  const fs::path  real = fs::canonical(cc, none);
  std::string     text = real.string();
  struct stat     s {};
  if (stat(real.c_str(), &s) == 0) text += fmt::format(" {} {}.{}", s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
  for (const std::string& f : flags()) text += " " + f;
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.starts_with("flags") || line.starts_with("model name") || line.starts_with("Features")) {
      text += line;
      if (line[0] != 'm') break;
    }
  return text;
}

// A folder that only this user can change; empty when it cannot be had.
fs::path cache_folder() {
  fs::path folder = environment("BRAINTRACE_CACHE_DIR");
  if (folder.empty()) {
    fs::path base = environment("XDG_CACHE_HOME");
    if (base.empty() && !environment("HOME").empty()) base = fs::path(environment("HOME")) / ".cache";
    if (base.empty()) return {};
    folder = base / "braintrace";
  }
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  mkdir(folder.c_str(), 0700);
  struct stat s {};
  const bool  ours =
      stat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 077) == 0;
  return ours && access(folder.c_str(), W_OK | X_OK) == 0 ? folder : fs::path();
}

bool write_file(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return out.good();
}

// Runs the compiler; returns what it said, empty on success.
std::string compile(const std::string& cc, const fs::path& source, const fs::path& result) {
  const fs::path           said  = source.string() + ".txt";
  std::vector<std::string> words = flags();
  words.insert(words.begin(), cc);
  words.insert(words.end(), {"-o", result.string(), source.string(), "-lm"});
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t     pid    = 0;
  const int failed = posix_spawn(&pid, cc.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return fmt::format("{} could not be started: {}", cc, std::strerror(failed));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::string     text = contents(said);
  std::error_code error;
  fs::remove(said, error);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return text.empty() ? fmt::format("{} failed", cc) : text.substr(0, 2000);
}

std::shared_ptr<const Library> opened(const fs::path& path, std::string& problem) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle) return std::make_shared<const Library>(handle);
  problem = dlerror();
  return nullptr;
}

// Compiles inside `folder`; the finished file is renamed to `name`, with a note of its hash.
std::string compile_into(const fs::path& folder, const std::string& cc, const std::string& source,
                         const std::string& name) {
  static std::atomic<uint64_t> serial{0};
  const fs::path               base = folder / fmt::format("{}.{}.{}", name, getpid(), serial++);
  const fs::path               c = base.string() + ".c", so = base.string() + ".so", sum = base.string() + ".sum";
  std::string                  problem;
  if (!write_file(c, source)) problem = fmt::format("{} could not be written; is the disk full?", c.string());
  if (problem.empty()) problem = compile(cc, c, so);
  std::error_code error;
  if (problem.empty() && !write_file(sum, fmt::format("{:016x}", hash_of(contents(so)))))
    problem = fmt::format("{} could not be written; is the disk full?", sum.string());
  if (problem.empty()) fs::rename(so, folder / (name + ".so"), error);
  if (problem.empty() && !error) fs::rename(sum, folder / (name + ".sum"), error);
  if (error) problem = error.message();
  for (const fs::path& p : {c, so, sum}) fs::remove(p, error);
  return problem;
}

// A kept file whose bytes are those that were written.
bool is_whole(const fs::path& folder, const std::string& name) {
  const std::string bytes = contents(folder / (name + ".so")), sum = contents(folder / (name + ".sum"));
  return !bytes.empty() && sum == fmt::format("{:016x}", hash_of(bytes));
}

struct State {
  std::mutex                                                    mutex;
  std::unordered_map<std::string, std::weak_ptr<const Library>> loaded;  // by name
};
State& state() {
  static State s;
  return s;
}

}  // namespace

Library::~Library() { dlclose(handle_); }

void* Library::symbol(const std::string& name) const {
  void* p = dlsym(handle_, name.c_str());
  ensure(p, "cpu: the compiled file has no symbol {}", name);
  return p;
}

std::string missing_compiler() {
  if (!compiler().empty()) return "";
  return "no C compiler was found (cc on the search path, or the one named by BRAINTRACE_CC)";
}

Loaded load(const std::string& source) {
  const std::string cc = compiler();
  if (cc.empty()) return {nullptr, false, missing_compiler()};
  const std::string around = circumstances(cc);
  const std::string name   = fmt::format("{:016x}{:016x}", hash_of(source, hash_of(around)),
                                         hash_of(around, hash_of(source, 7809847782465536322ULL)));
  State&            s      = state();
  {
    std::lock_guard lock(s.mutex);
    if (auto known = s.loaded[name].lock()) return {known, true, ""};
  }
  Loaded out;
  if (const fs::path folder = cache_folder(); !folder.empty()) {
    const fs::path so = folder / (name + ".so");
    if (is_whole(folder, name)) out = {opened(so, out.problem), true, out.problem};
    if (!out.library) {
      out.was_cached = false;
      out.problem    = compile_into(folder, cc, source, name);
      if (out.problem.empty()) out.library = opened(so, out.problem);
    }
  }
  if (!out.library) {
    const TemporaryFolder temporary;
    out.problem = temporary.path.empty() ? "no folder for temporary files could be made"
                                         : compile_into(temporary.path, cc, source, name);
    if (out.problem.empty()) out.library = opened(temporary.path / (name + ".so"), out.problem);
  }
  if (out.library) {
    std::lock_guard lock(s.mutex);
    s.loaded[name] = out.library;
  }
  return out;
}

void forget_loaded() {
  std::lock_guard lock(state().mutex);
  state().loaded.clear();
}

}  // namespace braintrace::cpu
