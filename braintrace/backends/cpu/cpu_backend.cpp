// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <future>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "braintrace/backends/calls.h"
#include "braintrace/backends/cpu/blocks.h"
#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/backends/cpu/flush.h"
#include "braintrace/backends/cpu/many_runs.h"
#include "braintrace/backends/cpu/matrix_product.h"
#include "braintrace/backends/cpu/resident.h"
#include "braintrace/backends/cpu/thread_choice.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/base/long_run.h"
#include "braintrace/base/process_mutex.h"
#include "braintrace/base/warning.h"
#include "braintrace/codegen/c/abi.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/runtime/command.h"

namespace braintrace {

namespace cpu {

namespace {

using codegen::bt_frame;
using codegen::bt_host;

// Services that the compiled code of one file uses (codegen/c/abi.h).
struct Host {
  std::shared_ptr<const Library> library, products_f32, products_f64;
  Arrays                         constants;
  std::vector<codegen::HostEqn>  calls;
  std::vector<const void*>       constant_pointers;
  bt_host                        table{};
  bool                           was_cached = false;

  Host(codegen::Emitted&& e, const Loaded& loaded)
      : library(loaded.library),
        constants(std::move(e.schedule.constants)),
        calls(std::move(e.schedule.calls)),
        was_cached(loaded.was_cached) {
    for (const Array& a : constants) constant_pointers.push_back(a.raw());
    table = {this, constant_pointers.data(), call, parallel, nullptr, nullptr};
  }
  void use_products(DType t, const Loaded& loaded) {
    was_cached = was_cached && loaded.was_cached;
    if (t == DType::F32) {
      products_f32     = loaded.library;
      table.matmul_f32 = product<codegen::bt_product_f32>(*loaded.library);
    } else {
      products_f64     = loaded.library;
      table.matmul_f64 = product<codegen::bt_product_f64>(*loaded.library);
    }
  }

  template <class Product>
  static Product product(const Library& library) {
    return reinterpret_cast<Product (*)()>(library.symbol("bt_product"))();
  }

  static thread_local std::exception_ptr thrown;

  static int32_t call(void* self, int32_t id, const void* const* in, void* const* out) {
    try {
      const codegen::HostEqn& c = static_cast<const Host*>(self)->calls[static_cast<size_t>(id)];
      Arrays                  args;
      for (size_t i = 0; i < c.in.size(); ++i) args.push_back(Array::borrow(c.in[i], in[i], nullptr));
      const Arrays results = value_of(c, args);
      for (size_t i = 0; i < results.size(); ++i) std::memcpy(out[i], results[i].raw(), results[i].bytes());
      return 0;
    } catch (...) {
      thrown = std::current_exception();
      return 2;
    }
  }
  static int32_t parallel(void*, codegen::bt_task task, const bt_frame* frame, int64_t count, int64_t grain,
                          int64_t first, int64_t whole) {
    return run_parallel(task, frame, count, grain, first, whole);
  }
};
thread_local std::exception_ptr Host::thrown;

bool is_shared(const codegen::Function& f) {
  return codegen::any_kernel(f, [](const codegen::Kernel& k) { return k.grain > 0; });
}

using Clock = std::chrono::steady_clock;

// People wait for shorter calls without asking to stop.
constexpr auto long_call = std::chrono::milliseconds(100);

class Native : public Compiled {
 public:
  Native(std::shared_ptr<const Host> host, const std::string& name, const codegen::Function& entry, Program program,
         Arrays constants)
      : host_(std::move(host)),
        function_(reinterpret_cast<codegen::bt_function>(host_->library->symbol(name))),
        arena_bytes_(static_cast<size_t>(entry.arena_bytes)),
        is_shared_(is_shared(entry)),
        has_loops_(codegen::has_loops(entry)),
        in_place_(entry.may_stop ? std::nullopt : std::optional(entry.in_place)),
        program_(std::move(program)),
        constants_(std::move(constants)) {
    for (Var v : program_.args) arg_types_.push_back(program_.type(v));
  }

  Arrays run(const Arrays& args) override {
    check_arguments(arg_types_, args);
    std::vector<const void*> in;
    std::vector<void*>       out;
    Arrays                   results;
    for (const Array& a : args) in.push_back(a.raw());
    for (Var v : program_.results) {
      results.push_back(blocks_->array(program_.type(v)));
      out.push_back(results.back().mutable_raw());
    }
    if (takes_long())
      stoppable_run(in.data(), out.data());
    else
      run_into(in.data(), out.data());
    return results;
  }

  void run_into(const void* const* args, void* const* results) override { pooled_run(args, results, &never_stop); }
  void stoppable_run(const void* const* args, void* const* results) override {
    const LongRun run;
    pooled_run(args, results, LongRun::flag());
  }
  void run_in(char* arena, const void* const* args, void* const* results) override {
    std::vector<const void*> in = inputs();
    run_with(in, arena, args, results, &never_stop);
  }
  bool    takes_long() const override { return has_loops_ && last_was_long_ && has_stop_source(); }
  int64_t arena_bytes() const override { return static_cast<int64_t>(arena_bytes_); }

  bool is_native() const override { return true; }
  bool was_cached() const override { return host_->was_cached; }
  bool may_share(size_t result, size_t arg) const override { return in_place_ && in_place_->allows(result, arg); }

 private:
  struct Call {
    Block                    arena;
    std::vector<const void*> in;
  };
  void pooled_run(const void* const* args, void* const* results, const StopFlag* stop) {
    std::unique_ptr<Call> call  = take_call();
    const auto            run   = [&] { run_with(call->in, call->arena.data, args, results, stop); };
    const bool            timed = has_loops_ && has_stop_source();
    const auto            start = timed ? Clock::now() : Clock::time_point();
    if (is_shared_)
      run_timed(run);
    else
      run();
    if (timed) last_was_long_ = Clock::now() - start > long_call;
    give_back(std::move(call));
  }
  std::unique_ptr<Call> take_call() {
    {
      std::lock_guard lock(mutex_);
      if (!calls_.empty()) {
        auto call = std::move(calls_.back());
        calls_.pop_back();
        return call;
      }
    }
    return std::unique_ptr<Call>(new Call{Block(arena_bytes_), inputs()});
  }
  // Chooses the number of threads by measurement. Concurrent calls disturb each other, so only one of them is timed.
  template <class Run>
  void run_timed(Run run) {
    std::unique_lock lock(choice_mutex_, std::try_to_lock);
    if (!lock) return run();
    const ThreadLimit limit(choice_.threads(num_threads()));
    const auto        start = Clock::now();
    run();
    choice_.took(Clock::now() - start);
  }
  // Pointers to the constants, with space for the arguments.
  std::vector<const void*> inputs() const {
    std::vector<const void*> in;
    for (const Array& a : constants_) in.push_back(a.raw());
    in.resize(constants_.size() + program_.args.size());
    return in;
  }
  void run_with(std::vector<const void*>& in, char* arena, const void* const* args, void* const* results,
                const StopFlag* stop) const {
    std::copy_n(args, program_.args.size(), in.begin() + static_cast<int64_t>(constants_.size()));
    const bt_frame frame{&host_->table, arena, in.data(), results, stop};
    int32_t        status = 0;
    {
      const FlushSubnormals flush;
      status = function_(&frame);
    }
    if (status) explain(status, in);
  }
  void give_back(std::unique_ptr<Call> call) {
    std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }

  // Reruns the program in the interpreter, which throws the error message.
  [[noreturn]] void explain(int32_t status, const std::vector<const void*>& in) const {
    if (status == 3) throw Stopped();
    if (status == 2) std::rethrow_exception(std::exchange(Host::thrown, nullptr));
    Arrays args;
    for (size_t i = 0; i < program_.args.size(); ++i)
      args.push_back(Array::borrow(program_.type(program_.args[i]), in[constants_.size() + i], nullptr));
    evaluate(program_, constants_, args);
    throw InternalError("cpu: compiled code found an index outside its axis, the interpreter did not");
  }

  std::shared_ptr<const Host>            host_;
  codegen::bt_function                   function_;
  size_t                                 arena_bytes_;
  bool                                   is_shared_;  // some kernels use threads
  bool                                   has_loops_;
  std::atomic<bool>                      last_was_long_ = true;  // unknown before the first
  std::optional<codegen::InPlaceResults> in_place_;
  Program                                program_;
  Arrays                                 constants_;
  Types                                  arg_types_;
  std::shared_ptr<Blocks>                blocks_ = std::make_shared<Blocks>();
  ProcessMutex                           mutex_;
  std::vector<std::unique_ptr<Call>>     calls_;
  std::mutex                             choice_mutex_;
  ThreadChoice                           choice_;
};

class Interpreted : public Compiled {
 public:
  Interpreted(Program program, const Arrays& constants)
      : program_(std::move(program)), executable_(reference_backend().compile(program_, constants)) {}
  Arrays run(const Arrays& args) override { return executable_->run(args); }
  void   run_into(const void* const* args, void* const* results) override {
    Arrays in;
    for (size_t i = 0; i < program_.args.size(); ++i)
      in.push_back(Array::borrow(program_.type(program_.args[i]), args[i], nullptr));
    const Arrays out = executable_->run(in);
    for (size_t i = 0; i < out.size(); ++i) std::memcpy(results[i], out[i].raw(), out[i].bytes());
  }
  void    stoppable_run(const void* const* args, void* const* results) override { run_into(args, results); }
  void    run_in(char*, const void* const* args, void* const* results) override { run_into(args, results); }
  bool    takes_long() const override { return false; }
  int64_t arena_bytes() const override { return 0; }
  bool    is_native() const override { return false; }
  bool    was_cached() const override { return false; }
  bool    may_share(size_t, size_t) const override { return true; }

 private:
  Program                     program_;
  std::shared_ptr<Executable> executable_;
};

void warn_of_interpreter(const std::string& problem) {
  const bool missing = !missing_compiler().empty();
  warn(fmt::format("{} in the interpreter, which is much slower: {}.\n  {}",
                   missing ? "programs run" : "a program runs", problem,
                   missing ? "Install a C compiler, or name one in BRAINTRACE_CC."
                           : "BRAINTRACE_CC names another compiler, BRAINTRACE_CFLAGS other flags."),
       "interpreter");
}
void warn_of_settings(const std::string& note) {
  if (!note.empty()) warn(note, "settings of the compiler");
}

}  // namespace

codegen::Options options_here() {
  codegen::Options out;
  out.target.cores = std::max<int64_t>(out.target.cores, num_threads());
  return out;
}

std::vector<std::shared_ptr<Compiled>> compile_together(const std::vector<Program>& programs,
                                                        const std::vector<Arrays>&  constants,
                                                        const codegen::Options&     options) {
  std::vector<std::shared_ptr<Compiled>> out;
  std::string                            problem = missing_compiler();
  if (problem.empty()) {
    std::vector<Program> known;
    for (size_t i = 0; i < programs.size(); ++i)
      known.push_back(codegen::with_known_indices(programs[i], constants[i], options));
    codegen::Emitted e       = codegen::emit(codegen::scheduled(known, options), codegen::Dialect::Native);
    const auto       entries = e.schedule.entries;
    const auto       names   = e.names;
    // Compile missing files in parallel.
    std::map<DType, std::future<Loaded>> products;
    for (DType t : e.products) products[t] = std::async(std::launch::async, [t] { return load(product_source(t)); });
    const Loaded loaded = load(e.source);
    problem             = loaded.problem;
    warn_of_settings(loaded.note);
    const auto host = loaded.library ? std::make_shared<Host>(std::move(e), loaded) : nullptr;
    for (auto& [t, product] : products) {
      const Loaded made = product.get();
      if (!made.library) problem = made.problem;
      warn_of_settings(made.note);
      if (made.library && host) host->use_products(t, made);
    }
    if (problem.empty()) {
      for (size_t i = 0; i < programs.size(); ++i)
        out.push_back(std::make_shared<Native>(host, names[i], *entries[i], programs[i], constants[i]));
      return out;
    }
  }
  if (!commands_are_stopped()) warn_of_interpreter(problem);
  for (size_t i = 0; i < programs.size(); ++i) out.push_back(std::make_shared<Interpreted>(programs[i], constants[i]));
  return out;
}

}  // namespace cpu

namespace {

class CpuBackend : public Backend {
 public:
  std::string_view            name() const override { return "cpu"; }
  std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) override {
    check_constants(program, constants);
    const NonzeroResults nonzero = nonzero_results(program);
    return with_zero_results(cpu::compile_together({nonzero.program}, {constants})[0], program, nonzero.is_zero);
  }
  std::unique_ptr<ResidentProgram> resident(const Program& program, const Arrays& constants,
                                            const std::vector<Feed>& feeds) override {
    return cpu::make_resident(program, constants, feeds);
  }
  std::unique_ptr<ManyRuns> many(const Program& program, const Arrays& constants,
                                 const std::vector<Feed>& feeds) override {
    return cpu::make_many_runs(program, constants, feeds);
  }
  ProgramNeeds needs(const Program& program, const std::vector<Feed>& feeds) override {
    // Print the text as compile() does, so that a caller who measures memory here sees what code generation takes.
    const NonzeroResults   nonzero = nonzero_results(program);
    const codegen::Options options = cpu::options_here();
    const codegen::Emitted emitted =
        codegen::emit(codegen::scheduled({nonzero.program}, options), codegen::Dialect::Native);
    return needs_of(emitted.schedule, nonzero, feeds, options.target);
  }
  std::string problem() const override { return cpu::missing_compiler(); }
};

}  // namespace

Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace braintrace
