// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/compiler.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <mutex>
#include <optional>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/backends/cpu/code_cache.h"
#include "braintrace/backends/settings.h"
#include "braintrace/base/error.h"
#include "braintrace/base/lists.h"
#include "braintrace/base/process_mutex.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/runtime/command.h"

namespace braintrace::cpu {

namespace fs = std::filesystem;

namespace {

// These flags preserve IEEE semantics: none lets the compiler assume that NaN and infinities do not occur, reorder
// sums, or contract products. -fno-trapping-math allows vectorized selects. -fno-strict-aliasing is needed because
// arena memory is reused for values of different types. Loop unswitching is enabled for long loops, too.
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
                                            "--param=max-unswitch-insns=300",
                                            "-w"};

// Looks up a program on the search path; empty if there is none.
std::string found(const std::string& name) {
  if (name.find('/') != name.npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  std::stringstream path(settings::variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (const std::string p = folder + "/" + name; access(p.c_str(), X_OK) == 0 && !fs::is_directory(p)) return p;
  return "";
}

// C++ is compiled only for tests, without parts that need its runtime library.
const std::vector<std::string> cpp_flags     = {"-x", "c++", "-std=gnu++17", "-O0", "-fno-exceptions", "-fno-rtti"};
const std::vector<std::string> witness_flags = {"-fsanitize=thread",
                                                "-nodefaultlibs"};  // without the sanitizer's library

// Flags of BRAINTRACE_CFLAGS come last, so that they override ours, but functions must remain visible.
std::vector<std::string> flags(Language language) {
  std::vector<std::string> all = own_flags;
  if (language != Language::C) {
    all.erase(all.begin());
    all.insert(all.end(), cpp_flags.begin(), cpp_flags.end());
  }
  if (language == Language::WitnessedCpp) all.insert(all.end(), witness_flags.begin(), witness_flags.end());
  std::stringstream more(settings::variable("BRAINTRACE_CFLAGS"));
  for (std::string word; more >> word;) all.push_back(word);
  all.push_back("-fvisibility=default");
  return all;
}

// A compiler command: a program and its first arguments. Empty if there is none.
using Compiler = std::vector<std::string>;

std::string text_of(const Compiler& cc) { return fmt::format("{}", fmt::join(cc, " ")); }

// `asked` is a name, a path, which may contain spaces, or a command such as "python3 -m ziglang cc".
Compiler located(const std::string& asked) {
  if (const std::string program = found(asked); !program.empty()) return {program};
  std::stringstream text(asked);
  Compiler          words;
  for (std::string word; text >> word;) words.push_back(word);
  if (words.empty() || (words[0] = found(words[0])).empty()) return {};
  return words;
}

Compiler compiler() {
  if (const std::string asked = settings::variable("BRAINTRACE_CC"); !asked.empty()) return located(asked);
  for (const char* usual : {"cc", "clang", "gcc", "zig cc"})
    if (Compiler cc = located(usual); !cc.empty()) return cc;
  return {};
}

// Whether this is a wrapper around a compiler, which may change although the wrapper does not.
bool is_wrapper(const Compiler& cc) {
  char start[2] = {};
  std::ifstream(cc[0], std::ios::binary).read(start, 2);
  return cc.size() > 1 || (start[0] == '#' && start[1] == '!');
}

std::string version_of(const Compiler& cc);

// Everything that determines the machine code in addition to the source.
std::string circumstances(const Compiler& cc, Language language) {
  std::error_code none;
  const fs::path  real = fs::canonical(cc[0], none);
  std::string     text = real.string();
  struct stat     s {};
  if (stat(real.c_str(), &s) == 0) text += fmt::format(" {} {}.{}", s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
  for (size_t i = 1; i < cc.size(); ++i) text += " " + cc[i];
  if (is_wrapper(cc)) text += version_of(cc);
  for (const std::string& f : flags(language)) text += " " + f;
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.starts_with("flags") || line.starts_with("model name") || line.starts_with("Features")) {
      text += line;
      if (line[0] != 'm') break;
    }
  return text;
}

struct State {
  ProcessMutex                                                  mutex;
  std::unordered_map<std::string, std::weak_ptr<const Library>> loaded;    // by name
  std::string                                                   hanging;   // error message of a compiler that hung
  std::unordered_map<std::string, std::string>                  versions;  // by command
};
State& state() {
  static State s;
  return s;
}

std::string remembered_as_hanging(const Compiler& cc, const char* what) {
  std::lock_guard lock(state().mutex);
  return state().hanging = fmt::format("{} took longer than {} s {} (BRAINTRACE_CC_SECONDS allows more)", text_of(cc),
                                       settings::compiler_seconds(), what);
}

// The version output of the compiler; queried once.
std::string version_of(const Compiler& cc) {
  {
    std::lock_guard lock(state().mutex);
    if (const auto known = state().versions.find(text_of(cc)); known != state().versions.end()) return known->second;
  }
  const WorkFolder               kept(CodeCache().folder());
  std::optional<TemporaryFolder> other;
  const fs::path                 folder = kept.path().empty() ? other.emplace().path : kept.path();
  const fs::path                 said   = folder / "said.txt";
  Compiler                       words  = cc;
  words.push_back("--version");
  if (run_command(words, said.string(), folder.string(), settings::compiler_seconds()).end == CommandEnd::TooLong)
    remembered_as_hanging(cc, "to say its version");
  std::lock_guard lock(state().mutex);
  return state().versions[text_of(cc)] = contents_of(said);
}

// Flags to add: none, then less and less optimization for a compiler that crashes.
const std::vector<std::string> attempts = {"", "-O1", "-O0"};

// A file created in `work`, or the problem.
struct Made {
  fs::path    code;
  std::string problem;
  bool        is_final = false;  // a different folder would not help
  std::string note     = {};     // a message for the user although compilation succeeded
};

// Whether the folder has space for a file: a compiler also fails on a full disk.
bool has_room(const fs::path& work) { return write_contents(work / "room", std::string(1 << 20, ' ')); }

// Whether this is a shared library with all its segments. The loader does not check: it crashes on a file cut short.
bool is_whole(const fs::path& path) {
  const std::string file = contents_of(path);
  ElfW(Ehdr) head;
  if (file.size() < sizeof head || !file.starts_with(ELFMAG)) return false;
  std::memcpy(&head, file.data(), sizeof head);
  for (size_t i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) segment;
    const size_t at = head.e_phoff + i * sizeof segment;
    if (at > file.size() - sizeof segment) return false;
    std::memcpy(&segment, file.data() + at, sizeof segment);
    if (segment.p_filesz > file.size() || segment.p_offset > file.size() - segment.p_filesz) return false;
  }
  return head.e_type == ET_DYN;
}

// The part of the compiler's output that tells most: the first line with an error.
std::string main_line(const std::string& said) {
  const size_t error = said.find("error");
  const size_t begin = error == said.npos ? 0 : said.rfind('\n', error) + 1;
  return said.substr(begin, said.find('\n', begin) - begin);
}

Made compile_once(const Compiler& cc, Language language, const std::string& setting, const fs::path& c,
                  const fs::path& work) {
  const fs::path           code = work / "code.so", said = work / "said.txt";
  std::vector<std::string> words = joined(cc, flags(language));
  if (!setting.empty()) words.push_back(setting);
  words.insert(words.end(), {"-o", code.string(), c.string(), "-lm"});
  const CommandResult result = run_command(words, said.string(), work.string(), settings::compiler_seconds());
  switch (result.end) {
    case CommandEnd::Done:
      if (is_whole(code)) return {code, {}};
      return {{}, fmt::format("{} wrote no complete shared library", text_of(cc))};
    case CommandEnd::Stopped:
      return {{}, "the process is about to end", true};
    case CommandEnd::TooLong:
      return {{}, remembered_as_hanging(cc, "for a file"), true};
    case CommandEnd::Failed:
      break;
  }
  const std::string problem = fmt::format("{} {}", text_of(cc), result.problem), text = contents_of(said);
  return {{}, text.empty() ? problem : problem + ": " + text.substr(0, 2000), !result.has_started};
}

Made compile(const Compiler& cc, Language language, const std::string& source, const fs::path& work) {
  if (work.empty()) return {{}, "cannot create a folder for temporary files"};
  const fs::path c = work / "code.c";
  if (!write_contents(c, source)) return {{}, fmt::format("{} could not be written; the disk may be full", c.string())};
  Made first;
  for (const std::string& setting : attempts) {
    Made made = compile_once(cc, language, setting, c, work);
    if (made.problem.empty() && !setting.empty())
      made.note =
          fmt::format("{} failed to compile a program. It succeeded with {}, but the program runs slower.\n  {}",
                      text_of(cc), setting, main_line(first.problem));
    if (made.problem.empty() || made.is_final) return made;
    if (!has_room(work)) return made;
    if (setting.empty()) first = std::move(made);
  }
  first.is_final = true;
  return first;
}

// A variable that says for which source a library was made. A compiler, or a wrapper around one, may succeed and write
// something else.
std::string mark_of(const std::string& source) { return fmt::format("bt_source_{:016x}", hash_of(source)); }

std::shared_ptr<const Library> opened(const Compiler& cc, const fs::path& path, const std::string& mark,
                                      std::string& problem) {
  // The address sanitizer ends a process that loads it late.
  if (!dlsym(RTLD_DEFAULT, "__asan_init") && contents_of(path).find("libasan.so") != std::string::npos) {
    problem = "code with -fsanitize=address runs only in a process that was started with this sanitizer (LD_PRELOAD)";
    return nullptr;
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    problem = dlerror();
    return nullptr;
  }
  auto library = std::make_shared<const Library>(handle);
  if (dlsym(handle, mark.c_str())) return library;
  problem = fmt::format("{} wrote a library of something else", text_of(cc));
  return nullptr;
}

}  // namespace

Library::~Library() { dlclose(handle_); }

void* Library::symbol(const std::string& name) const {
  void* p = dlsym(handle_, name.c_str());
  ensure(p, "cpu: the compiled file has no symbol {}", name);
  return p;
}

std::string missing_compiler() {
  if (compiler().empty()) {
    const std::string asked = settings::variable("BRAINTRACE_CC");
    return fmt::format("no C compiler was found ({})",
                       asked.empty() ? "cc, clang, gcc or zig on the search path" : "BRAINTRACE_CC is '" + asked + "'");
  }
  std::lock_guard lock(state().mutex);
  return state().hanging;
}

Loaded load(const std::string& source, Language language) {
  if (const std::string missing = missing_compiler(); !missing.empty()) return {nullptr, false, missing};
  const Compiler    cc     = compiler();
  const std::string around = circumstances(cc, language);
  if (const std::string missing = missing_compiler(); !missing.empty()) return {nullptr, false, missing};
  const std::string name = fmt::format("{:016x}{:016x}", hash_of(source, hash_of(around)),
                                       hash_of(around, hash_of(source, 7809847782465536322ULL)));
  State&            s    = state();
  {
    std::lock_guard lock(s.mutex);
    if (auto known = s.loaded[name].lock()) return {known, true, ""};
  }
  Loaded            out;
  const CodeCache   cache;
  const std::string mark = mark_of(source), text = fmt::format("{}\nchar {} = 1;\n", source, mark);
  if (const fs::path found = cache.find(name); !found.empty()) out = {opened(cc, found, mark, out.problem), true, {}};
  if (!out.library) {
    out.was_cached = false;
    // If the cache folder is not usable, or its disk is full, compile in a temporary folder.
    const WorkFolder kept(cache.folder());
    Made             made = compile(cc, language, text, kept.path());
    if (made.problem.empty()) out.library = opened(cc, made.code, mark, made.problem);
    if (out.library && cache.keep(name, made.code).empty()) cache.shrink(cache.bound());
    if (!out.library && !made.is_final) {
      const TemporaryFolder temporary;
      made = compile(cc, language, text, temporary.path);
      if (made.problem.empty()) out.library = opened(cc, made.code, mark, made.problem);
    }
    out.problem = made.problem;
    out.note    = made.note;
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
  state().hanging.clear();
  state().versions.clear();
}

}  // namespace braintrace::cpu
