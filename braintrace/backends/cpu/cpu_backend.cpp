// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/cpu_backend.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "braintrace/backends/cpu/blocks.h"
#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/backends/cpu/flush.h"
#include "braintrace/backends/cpu/matrix_product.h"
#include "braintrace/backends/cpu/resident.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/base/warning.h"
#include "braintrace/codegen/c/abi.h"
#include "braintrace/codegen/cost.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/command.h"

namespace braintrace {

namespace cpu {

namespace {

using codegen::bt_frame;
using codegen::bt_host;

// What the compiled code of one file asks of this process.
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

  // A composite is evaluated by its parts.
  static Arrays value_of(const codegen::HostEqn& c, const Arrays& args) {
    const Op& op = *c.eqn.op;
    if (op.eval) return op.eval(op, args, c.eqn.attrs, c.out);
    Arrays results;
    for (const Tensor& t : op.expand(op, Tensors(args.begin(), args.end()), c.eqn.attrs)) results.push_back(t.array());
    return results;
  }
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

void check_arguments(const Program& p, const Arrays& args) {
  require(args.size() == p.args.size(), "run: the program takes {} argument(s), got {}.", p.args.size(), args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].type() != p.type(p.args[i]))
      fail("run: argument {} is {}, the program takes {}.", i, to_string(args[i].type()), to_string(p.type(p.args[i])));
}

class Native : public Compiled {
 public:
  Native(std::shared_ptr<const Host> host, const std::string& name, const codegen::Function& entry, Program program,
         Arrays constants)
      : host_(std::move(host)),
        function_(reinterpret_cast<codegen::bt_function>(host_->library->symbol(name))),
        arena_bytes_(static_cast<size_t>(entry.arena_bytes)),
        in_place_(entry.may_stop ? decltype(in_place_)() : entry.in_place),
        program_(std::move(program)),
        constants_(std::move(constants)) {}

  Arrays run(const Arrays& args) override {
    check_arguments(program_, args);
    std::vector<const void*> in;
    std::vector<void*>       out;
    Arrays                   results;
    for (const Array& a : args) in.push_back(a.raw());
    for (Var v : program_.results) {
      results.push_back(blocks_->array(program_.type(v)));
      out.push_back(results.back().mutable_raw());
    }
    run_into(in.data(), out.data());
    return results;
  }

  void run_into(const void* const* args, void* const* results) override {
    std::unique_ptr<Call> call = take_call();
    run_with(call->in, call->arena.data, args, results);
    give_back(std::move(call));
  }
  void run_in(char* arena, const void* const* args, void* const* results) override {
    std::vector<const void*> in = inputs();
    run_with(in, arena, args, results);
  }
  int64_t arena_bytes() const override { return static_cast<int64_t>(arena_bytes_); }

  bool is_native() const override { return true; }
  bool was_cached() const override { return host_->was_cached; }
  bool may_share(size_t result, size_t arg) const override {
    return std::binary_search(in_place_.begin(), in_place_.end(), std::pair(result, arg));
  }

 private:
  struct Call {
    Block                    arena;
    std::vector<const void*> in;
  };
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
  // Constants, and room for the arguments.
  std::vector<const void*> inputs() const {
    std::vector<const void*> in;
    for (const Array& a : constants_) in.push_back(a.raw());
    in.resize(constants_.size() + program_.args.size());
    return in;
  }
  void run_with(std::vector<const void*>& in, char* arena, const void* const* args, void* const* results) const {
    std::copy_n(args, program_.args.size(), in.begin() + static_cast<int64_t>(constants_.size()));
    const bt_frame frame{&host_->table, arena, in.data(), results};
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

  // The interpreter has the words for what went wrong.
  [[noreturn]] void explain(int32_t status, const std::vector<const void*>& in) const {
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
  std::vector<std::pair<size_t, size_t>> in_place_;
  Program                                program_;
  Arrays                                 constants_;
  std::shared_ptr<Blocks>                blocks_ = std::make_shared<Blocks>();
  std::mutex                             mutex_;
  std::vector<std::unique_ptr<Call>>     calls_;
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
  void    run_in(char*, const void* const* args, void* const* results) override { run_into(args, results); }
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

NonzeroResults nonzero_results(const Program& program) {
  const auto     producer = producers(program);
  NonzeroResults out{program, Mask(program.results.size())};
  out.program.results.clear();
  for (size_t k = 0; k < out.is_zero.size(); ++k) {
    const Var  v   = program.results[k];
    const Eqn* e   = producer[v] >= 0 ? &program.eqns[static_cast<size_t>(producer[v])] : nullptr;
    out.is_zero[k] = e && e->op == &full_op && e->attrs[keys::value] == 0;
    if (!out.is_zero[k]) out.program.results.push_back(v);
  }
  return out;
}

std::vector<Feed> NonzeroResults::feeds(const std::vector<Feed>& whole) const {
  std::vector<Feed> out;
  for (const Feed& f : whole)
    if (!is_zero.at(f.result)) {
      const auto before = is_zero.begin() + static_cast<int64_t>(f.result);
      out.push_back({static_cast<size_t>(std::count(is_zero.begin(), before, false)), f.arg});
    }
  return out;
}

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
      known.push_back(codegen::with_known_indices(programs[i], constants[i]));
    codegen::Emitted e       = codegen::emit(codegen::scheduled(known, options), codegen::Dialect::Native);
    const auto       entries = e.schedule.entries;
    const auto       names   = e.names;
    // Files that are not there yet are compiled side by side.
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

using cpu::NonzeroResults, cpu::nonzero_results;

// Results that are always zero are made once.
class WithZeroResults : public Executable {
 public:
  WithZeroResults(std::shared_ptr<Executable> rest, std::vector<std::optional<Array>> zeros)
      : rest_(std::move(rest)), zeros_(std::move(zeros)) {}
  Arrays run(const Arrays& args) override {
    const Arrays made = rest_->run(args);
    Arrays       out;
    for (size_t k = 0, next = 0; k < zeros_.size(); ++k) out.push_back(zeros_[k] ? *zeros_[k] : made[next++]);
    return out;
  }

 private:
  std::shared_ptr<Executable>       rest_;
  std::vector<std::optional<Array>> zeros_;
};

class CpuBackend : public Backend {
 public:
  std::string_view            name() const override { return "cpu"; }
  std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) override {
    require(constants.size() == program.constants.size(), "compile: the program has {} constant(s), got {}.",
            program.constants.size(), constants.size());
    const NonzeroResults              nonzero = nonzero_results(program);
    std::vector<std::optional<Array>> zeros(program.results.size());
    for (size_t k = 0; k < zeros.size(); ++k)
      if (nonzero.is_zero[k]) zeros[k] = Array(program.type(program.results[k]));
    auto compiled = cpu::compile_together({nonzero.program}, {constants})[0];
    if (nonzero.program.results.size() == zeros.size()) return compiled;
    return std::make_shared<WithZeroResults>(std::move(compiled), std::move(zeros));
  }
  std::unique_ptr<ResidentProgram> resident(const Program& program, const Arrays& constants,
                                            const std::vector<Feed>& feeds) override {
    return cpu::make_resident(program, constants, feeds);
  }
  ProgramNeeds needs(const Program& program, const std::vector<Feed>& feeds) override {
    // Printed too, as compile() does: whoever measures memory around this call sees what making the program takes.
    const NonzeroResults   nonzero = nonzero_results(program);
    const codegen::Emitted emitted =
        codegen::emit(codegen::scheduled({nonzero.program}, cpu::options_here()), codegen::Dialect::Native);
    const codegen::Schedule& schedule   = emitted.schedule;
    const codegen::Function& entry      = *schedule.entries[0];
    const std::vector<Feed>  fed        = nonzero.feeds(feeds);
    const auto               overwrites = [&](size_t result) {
      return !entry.may_stop && std::any_of(fed.begin(), fed.end(), [&](const Feed& f) {
        const auto& pairs = entry.in_place;
        return f.result == result && std::binary_search(pairs.begin(), pairs.end(), std::pair(result, f.arg));
      });
    };
    ProgramNeeds n{.working = entry.arena_bytes, .is_zero = nonzero.is_zero, .work = codegen::work_of(schedule)};
    for (const Array& a : schedule.constants) n.constants += static_cast<int64_t>(a.bytes());
    for (size_t k = 0; k < nonzero.program.results.size(); ++k)
      if (!overwrites(k)) n.working += nonzero.program.type(nonzero.program.results[k]).bytes();
    return n;
  }
  std::string problem() const override { return cpu::missing_compiler(); }
};

}  // namespace

Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace braintrace
