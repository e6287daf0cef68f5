// SPDX-License-Identifier: Apache-2.0
// What runs programs. A backend takes a *whole* program, never one call per op, so adding an op never touches it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/ir/tensor.h"
#include "braintrace/runtime/work.h"

namespace braintrace {

// A program made ready to run, any number of times and from any thread.
class Executable {
 public:
  virtual ~Executable() = default;
  // Arguments in the order of program.args, of exactly their types.
  virtual Arrays run(const Arrays& args) = 0;
};

// A result that is an argument of the next run.
struct Feed {
  size_t result, arg;
};

// A program that runs again and again on its own results. It keeps the arguments that are fed, and may write their
// memory again.
class ResidentProgram {
 public:
  virtual ~ResidentProgram() = default;
  // Those that it keeps, of the feeds it was made for; all others are arguments and results like any.
  virtual const std::vector<Feed>& feeds() const = 0;
  // Takes values of the fed arguments, in the order of feeds(); memory that others see is copied. If it throws, they
  // are still there.
  virtual void hold(Arrays&& values) = 0;
  // Their values now. It then has none, until hold().
  virtual Arrays settle() = 0;
  // All but the fed arguments → all but the fed results. If it throws, nothing has changed.
  virtual Arrays run(const Arrays& args) = 0;
  // From now on run() leaves these results, none of them fed, where they are computed; left(i) reads the i-th of them
  // as the last run made it. False where that saves nothing: run() then gives them as before.
  virtual bool  leave(const std::vector<size_t>&) { return false; }
  virtual Array left(size_t) { throw InternalError("this program leaves no results"); }
};

// Sets of arguments, each of which lies in memory of its own, as the states of a fleet do.
struct ArgumentSets {
  size_t count = 0;
  size_t turns = 1;  // runs on each set, one after the other
  // Writes where the arguments of set k lie, and the results that are not fed. Threads call it for the sets they run.
  std::function<void(size_t k, void** args, void** results)> places;
  // Bytes from the place of one turn to that of the next; 0 where it stays, as a state's does.
  std::vector<size_t> arg_strides, result_strides;
};

// A program that runs on many sets of arguments.
class ManyRuns {
 public:
  virtual ~ManyRuns() = default;
  // Results that are fed overwrite their arguments. Sets may run side by side, so what one writes no other may touch.
  // If it throws, some of the runs are made.
  virtual void run(const ArgumentSets& sets) = 0;
};

// What a run of a program takes, found without compiling or running it.
struct ProgramNeeds {
  int64_t           constants = 0;   // bytes that it holds beside program.constants
  int64_t           working   = 0;   // bytes: working memory, and results that overwrite no argument they are fed to
  std::vector<bool> is_zero   = {};  // results that are always zero: they are made once and cost nothing
  Work              work      = {};
};

class Backend {
 public:
  virtual ~Backend()                    = default;
  virtual std::string_view name() const = 0;
  // `constants` are the values of program.constants.
  virtual std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) = 0;
  // The same for a program that is fed with its own results; null where the backend has no such thing.
  virtual std::unique_ptr<ResidentProgram> resident(const Program&, const Arrays&, const std::vector<Feed>&) {
    return nullptr;
  }
  // The same for many sets of arguments. Unless a backend has something better, they run one after the other.
  virtual std::unique_ptr<ManyRuns> many(const Program& program, const Arrays& constants,
                                         const std::vector<Feed>& feeds);
  virtual ProgramNeeds              needs(const Program& program, const std::vector<Feed>& feeds) = 0;
  // Why it cannot run programs, or not as fast as it should; empty where it can.
  virtual std::string problem() const { return ""; }
  // Bytes that are free where its programs run, if that is not the memory of the machine.
  virtual std::optional<int64_t> memory() const { return {}; }
};

// The backends built into this library, the reference interpreter first.
const std::vector<Backend*>& backends();
// One of them, or "cuda:1" for another device, or "auto": cuda where a device works, else cpu with a note. Throws
// UserError listing the known names.
Backend& find_backend(std::string_view name);

// The backend that `jit` compiles with: that of the innermost BackendScope of this thread, else the one that was set
// for the whole process; at first the one that BRAINTRACE_BACKEND names in the environment, or `cpu`.
Backend& default_backend();
void     set_default_backend(std::string_view name);
// The same where the environment names none: for programs that run most of their programs once, and for tests.
void prefer_backend(std::string_view name);

// What matrix products of f32 round their operands to on backends that have a choice, sums being of f32 always: "f32",
// which is not at all, "tf32" or "bf16". It holds for calls from now on, jitted functions are compiled again; at first
// it is what BRAINTRACE_PRECISION names in the environment, or f32.
std::string product_precision();
void        set_product_precision(std::string_view name);

// Another default for this thread, as long as it lives.
class BackendScope {
 public:
  explicit BackendScope(std::string_view name);
  ~BackendScope();
  BackendScope(const BackendScope&)            = delete;
  BackendScope& operator=(const BackendScope&) = delete;

 private:
  Backend* before_;
};

}  // namespace braintrace
