// SPDX-License-Identifier: Apache-2.0
// The life of compiled files, threads, memory, and errors.
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/base/rng.h"
#include "braintrace/base/warning.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/allocations.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

namespace fs = std::filesystem;

// Sets environment variables during its lifetime.
class With {
 public:
  With(const char* name, const std::string& value) : name_(name) {
    if (const char* v = std::getenv(name)) before_ = v;
    setenv(name, value.c_str(), 1);
  }
  ~With() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char*                name_;
  std::optional<std::string> before_;
};

class CompiledFiles : public testing::Test {
 protected:
  CompiledFiles()
      : folder(fs::temp_directory_path() / fmt::format("braintrace-test-{}", getpid())),
        cache("BRAINTRACE_CACHE_DIR", folder.string()) {
    fs::remove_all(folder);
    cpu::forget_loaded();
  }
  ~CompiledFiles() override { fs::remove_all(folder); }

  // y = x² + c; every c gives a different file.
  static std::shared_ptr<cpu::Compiled> compiled(double c) {
    const Traced t = trace({{DType::F64, {2}}}, [&](const Tensors& x) -> Tensors { return {square(x[0]) + c}; });
    return cpu::compile_together({t.program}, {{}})[0];
  }
  static double value(cpu::Compiled& f) { return at(f.run({Array::of<double>({3, 4}, {2})})[0], 1); }
  size_t        files() const {
           return fs::exists(folder) ? static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})) : 0;
  }

  fs::path folder;
  With     cache;
};

TEST_F(CompiledFiles, AreUsedAgain) {
  EXPECT_FALSE(compiled(1)->was_cached());
  cpu::forget_loaded();
  const auto again = compiled(1);
  EXPECT_TRUE(again->was_cached());
  EXPECT_EQ(value(*again), 17);
  EXPECT_EQ(files(), 2u);  // code and checksum; nothing half done is left
  struct stat s {};
  ASSERT_EQ(stat(folder.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
}

TEST_F(CompiledFiles, ThatAreDamagedAreMadeAgain) {
  compiled(2);
  cpu::forget_loaded();
  for (const auto& e : fs::directory_iterator(folder))
    if (e.path().extension() == ".so") std::ofstream(e.path(), std::ios::trunc) << "not machine code";
  const auto f = compiled(2);
  EXPECT_FALSE(f->was_cached());
  EXPECT_EQ(value(*f), 18);
}

TEST_F(CompiledFiles, OfAFolderOpenToOthersAreNotTrusted) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms(0777));
  std::string heard;
  const auto  before = set_warning_hook([&](const std::string& text) { heard = text; });
  const auto  f      = compiled(3);
  set_warning_hook(before);
  EXPECT_TRUE(f->is_native());
  EXPECT_EQ(value(*f), 19);
  EXPECT_EQ(files(), 0u);
  EXPECT_NE(heard.find("other users can write to " + folder.string()), heard.npos) << heard;
}

TEST_F(CompiledFiles, OfAFolderThatOthersOnlyReadAreUsed) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms(0755));
  compiled(6);
  cpu::forget_loaded();
  EXPECT_TRUE(compiled(6)->was_cached());
}

TEST_F(CompiledFiles, NeedNoFolder) {
  const With nowhere("BRAINTRACE_CACHE_DIR", "/proc/braintrace");
  const auto f = compiled(4);
  EXPECT_TRUE(f->is_native());
  EXPECT_EQ(value(*f), 20);
}

TEST_F(CompiledFiles, AreSharedByProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      const auto f = compiled(5);
      _exit(f->is_native() && value(*f) == 21 ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(CompiledFiles, AreReplacedByTheInterpreterWithoutACompiler) {
  const With none("BRAINTRACE_CC", "/nonexistent/compiler");
  EXPECT_NE(cpu::missing_compiler(), "");
  std::string heard;
  set_warning_hook([&](const std::string& text) { heard = text; });
  const auto f = compiled(6);
  set_warning_hook({});
  EXPECT_FALSE(f->is_native());
  EXPECT_EQ(value(*f), 22);
  EXPECT_NE(heard.find("Install a C compiler, or name one in BRAINTRACE_CC"), std::string::npos) << heard;
}

// A folder of programs, each of which records its name and calls the real compiler.
class Programs {
 public:
  Programs()
      : real(program_on_path("cc")), folder_(fs::temp_directory_path() / fmt::format("braintrace-cc-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~Programs() { fs::remove_all(folder_); }
  // Answers --version with `version`; calls the compiler with what follows `own` arguments of its own.
  void write(const std::string& name, const std::string& version, int own = 0) const {
    std::ofstream(path(name)) << "#!/bin/sh\necho " << name << " \"$@\" >> " << path("log") << "\n"
                              << "for last; do :; done\n[ \"$last\" = --version ] && { echo " << version
                              << "; exit 0; }\n"
                              << "shift " << own << "\nPATH='" << search_path_ << "' exec " << real << " \"$@\"\n";
    fs::permissions(path(name), fs::perms(0755));
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string take_log() const {
    std::ifstream     file(path("log"));
    std::stringstream text;
    text << file.rdbuf();
    fs::remove(path("log"));
    return text.str();
  }

 private:
  static std::string program_on_path(const std::string& name) {
    std::stringstream path(std::getenv("PATH"));
    for (std::string folder; std::getline(path, folder, ':');)
      if (fs::exists(folder + "/" + name)) return folder + "/" + name;
    return name;
  }
  std::string search_path_ = std::getenv("PATH");
  std::string real;
  fs::path    folder_;
};

TEST_F(CompiledFiles, AreMadeByACommandOfSeveralWords) {
  const Programs programs;
  programs.write("starter", "one", 2);
  const With given("BRAINTRACE_CC", programs.path("starter") + "  -m  ziglang");
  EXPECT_EQ(cpu::missing_compiler(), "");
  const auto f = compiled(30);
  EXPECT_TRUE(f->is_native());
  EXPECT_EQ(value(*f), 46);
  EXPECT_NE(programs.take_log().find("starter -m ziglang -std=gnu11"), std::string::npos);
}

TEST_F(CompiledFiles, AreMadeAgainWhenAWrapperStartsAnotherVersion) {
  const Programs programs;
  const With     given("BRAINTRACE_CC", programs.path("wrapper"));
  programs.write("wrapper", "version 11");
  struct stat first {};
  ASSERT_EQ(stat(programs.path("wrapper").c_str(), &first), 0);
  EXPECT_FALSE(compiled(31)->was_cached());
  cpu::forget_loaded();
  EXPECT_TRUE(compiled(31)->was_cached());
  programs.write("wrapper", "version 12");  // the same size, and made to look as old
  const timespec times[] = {first.st_atim, first.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, programs.path("wrapper").c_str(), times, 0), 0);
  cpu::forget_loaded();
  EXPECT_FALSE(compiled(31)->was_cached());
}

TEST_F(CompiledFiles, AreMadeByTheFirstOfTheUsualCompilers) {
  const Programs programs;
  const With     path("PATH", fs::path(programs.path("log")).parent_path().string());
  for (const char* name : {"zig", "gcc", "clang", "cc"}) {  // each is found before those above
    programs.write(name, name, std::string(name) == "zig");
    cpu::forget_loaded();
    EXPECT_TRUE(compiled(40 + name[0])->is_native());
    EXPECT_NE(programs.take_log().find(std::string(name) == "zig" ? "zig cc -std" : std::string(name) + " -std"),
              std::string::npos)
        << name;
  }
}

// Ten sums of doubles: gcc 12 fills their array as if it were 16-byte aligned, even if it is not.
TEST_F(CompiledFiles, RunWithAnyFlags) {
  const Types  types = {{DType::F32, {640, 10}}, {DType::F32, {10, 70}}};
  const Traced t     = trace(types, [](const Tensors& in) -> Tensors {
    return {sum(in[0], 0), sum(tanh(in[0]), 1), dot(in[0], in[1])};
  });
  Rng          rng(3);
  const Arrays args = {random_array(rng, types[0]), random_array(rng, types[1])};
  for (const char* flags : {"-O0", "-O1", "-O2", "-O2 -fno-ipa-cp", "-Os", "-O3 -mno-avx512f", "-march=x86-64",
                            "-g -funroll-loops", "-fvisibility=hidden"}) {
    const With given("BRAINTRACE_CFLAGS", flags);
    EXPECT_TRUE(cpu::compile_together({t.program}, {{}})[0]->is_native()) << flags;
    EXPECT_LE(testing_support::worst_disagreement({{"flags", t.program, {}, args}}).distance, 1e-5) << flags;
  }
}

// Products, sums over either axis and elementwise work, all large enough to be shared; the last two results are a sum
// over some rows of a matrix and the matrix changed.
Traced large_program(Array& x, Array& w) {
  Rng rng(5);
  x = random_array(rng, {DType::F32, {1024, 300}});
  w = random_array(rng, {DType::F32, {300, 400}});
  return trace({x.type(), w.type()}, [](const Tensors& in) -> Tensors {
    const Tensor y   = tanh(dot(in[0], in[1]));
    const Tensor row = slice_axis(in[0], 0, 0, 1), back = dot(slice_axis(in[1], 0, 31, 300), reshape(sum(y, 0), {400}));
    return {y,
            sum(y * y, 0),
            sum(y, 1),
            dot_general(in[0], y, {{0}, {0}, {}, {}}),
            dot(row, in[1]),
            back,
            in[1] - transpose(row) * sum(y, 0)};
  });
}

TEST(CompiledThreads, DoNotChangeBits) {
  Array        x, w;
  const Traced t      = large_program(x, w);
  const auto   f      = cpu_backend().compile(t.program, {});
  const int    before = cpu::num_threads();
  cpu::set_num_threads(1);
  const Arrays one = f->run({x, w});
  for (const int threads : {2, 3, 4, 8}) {
    cpu::set_num_threads(threads);
    const Arrays many = f->run({x, w});
    for (size_t r = 0; r < one.size(); ++r)
      EXPECT_TRUE(identical(one[r], many[r])) << threads << " threads, result " << r;
  }
  cpu::set_num_threads(before);
}

// A child process does not have the threads of its parent; it creates its own, and ends as usual.
TEST(CompiledThreads, AreMadeAnewAfterAFork) {
  Array        x, w;
  const Traced t      = large_program(x, w);
  const auto   f      = cpu_backend().compile(t.program, {});
  const int    before = cpu::num_threads();
  cpu::set_num_threads(3);
  const Arrays here = f->run({x, w});
  const pid_t  pid  = fork();
  if (pid == 0) {
    alarm(60);  // a child that waits for ever counts as failed
    const Arrays there = f->run({x, w});
    std::exit(identical(here[0], there[0]) && identical(here[3], there[3]) ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  cpu::set_num_threads(before);
}

// Other threads run the same program when a child is made: it finds no lock held.
TEST(CompiledThreads, LeaveNoLockToAChild) {
  const Traced             t = trace({{DType::F64, {2}}}, [](const Tensors& x) -> Tensors { return {square(x[0])}; });
  const auto               f = cpu_backend().compile(t.program, {});
  const Arrays             in{Array::of<double>({3, 4}, {2})};
  std::atomic<bool>        stop = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!stop) f->run(in);
    });
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // a child that waits for ever counts as failed
      _exit(at(f->run(in)[0], 1) == 16 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  stop = true;
  for (std::thread& other : others) other.join();
}

TEST(CompiledMemory, IsNotAllocatedWhileRunning) {
  Array              x, w;
  const Traced       t       = large_program(x, w);
  const auto         f       = cpu::compile_together({t.program}, {{}})[0];
  Arrays             results = f->run({x, w});
  const void*        in[]    = {x.raw(), w.raw()};
  std::vector<void*> out;
  for (Array& r : results) out.push_back(r.mutable_raw());
  f->run_into(in, out.data());
  const int64_t before = testing_support::allocations();
  for (int i = 0; i < 10; ++i) f->run_into(in, out.data());
  EXPECT_EQ(testing_support::allocations(), before);
  const auto probe = std::make_unique<int>(1);
  EXPECT_GT(testing_support::allocations(), before) << "the count is alive";
}

TEST(CompiledErrors, HaveTheInterpretersWords) {
  const Traced t    = trace({{DType::F32, {3}}, {DType::I32, {1}}},
                            [](const Tensors& in) -> Tensors { return {take(in[0] * 2, in[1], 0)}; });
  const Arrays args = {Array::of<float>({1, 2, 3}, {3}), Array::of<int32_t>({7}, {1})};
  const auto   f    = cpu_backend().compile(t.program, {});
  const auto   said = error_of([&] { f->run(args); });
  EXPECT_EQ(said, error_of([&] { evaluate(t.program, {}, args); }));
  EXPECT_NE(said, "");
  EXPECT_EQ(at(f->run({args[0], Array::of<int32_t>({2}, {1})})[0], 0), 6) << "an error leaves it usable";
}

// The comparison can fail: an operation whose code does not match its reference definition.
TEST(CompiledControl, DisagreementIsSeen) {
  static constinit const Op wrong = elementwise({.name   = "test_wrong",
                                                 .doc    = "means one thing and computes another",
                                                 .code   = {"bt_tanh$f($a)", ""},
                                                 .scalar = {.real = [](const double* x) { return x[0] / 2; }}});
  const Array               x     = Array::of<double>({1, 2}, {2});
  const auto                t     = trace({x.type()}, [](const Tensors& in) { return apply(wrong, in); });
  EXPECT_GT(testing_support::worst_disagreement({{"wrong", t.program, {}, {x}}}).distance, 0.01);
}

}  // namespace
}  // namespace braintrace
