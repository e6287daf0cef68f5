// SPDX-License-Identifier: Apache-2.0
// Backends run programs. A backend compiles a *whole* program, not single ops, so adding an op does not change any
// backend.
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

// A compiled program. It can run any number of times and from any thread.
class Executable {
 public:
  virtual ~Executable() = default;
  // Arguments in the order of program.args, of exactly their types.
  virtual Arrays run(const Arrays& args) = 0;
};

// A result that becomes an argument of the next run.
struct Feed {
  size_t result, arg;
};

// A program that runs repeatedly on its own results. It keeps the arguments that are fed, and may overwrite their
// memory.
class ResidentProgram {
 public:
  virtual ~ResidentProgram() = default;
  // The feeds that it keeps, of those it was created with; all others are ordinary arguments and results.
  virtual const std::vector<Feed>& feeds() const = 0;
  // Takes the values of the fed arguments, in the order of feeds(); shared memory is copied. If it throws, `values` is
  // unchanged.
  virtual void hold(Arrays&& values) = 0;
  // Returns their current values. The program then holds none, until hold().
  virtual Arrays settle() = 0;
  // All but the fed arguments → all but the fed results. If it throws, nothing has changed.
  virtual Arrays run(const Arrays& args) = 0;
  // From now on, run() does not return these results, none of which may be fed; left(i) reads the i-th of them as
  // computed by the last run. Returns false if this saves nothing: run() then returns them as before.
  virtual bool  leave(const std::vector<size_t>&) { return false; }
  virtual Array left(size_t) { throw InternalError("this program leaves no results"); }
};

// Sets of arguments, each in its own memory, such as the states of the members of a fleet.
struct ArgumentSets {
  size_t count = 0;
  size_t turns = 1;  // consecutive runs on each set
  // Writes the addresses of the arguments of set k, and of the results that are not fed. Each thread calls it for the
  // sets it runs.
  std::function<void(size_t k, void** args, void** results)> places;
  // Bytes from the address for one turn to the address for the next; 0 if it stays the same, as for a state.
  std::vector<size_t> arg_strides, result_strides;
};

// A program that runs on many sets of arguments.
class ManyRuns {
 public:
  virtual ~ManyRuns() = default;
  // Results that are fed overwrite their arguments. Sets may run in parallel, so no set may access memory that another
  // set writes. If it throws, some of the runs have been made.
  virtual void run(const ArgumentSets& sets) = 0;
};

// The resources that a run of a program needs, estimated without compiling or running it.
struct ProgramNeeds {
  int64_t           constants = 0;   // bytes in addition to program.constants
  int64_t           working   = 0;   // bytes: working memory, and fed results that cannot overwrite their argument
  std::vector<bool> is_zero   = {};  // results that are always zero: they are created once and cost nothing
  Work              work      = {};
};

class Backend {
 public:
  virtual ~Backend()                    = default;
  virtual std::string_view name() const = 0;
  // `constants` are the values of program.constants.
  virtual std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) = 0;
  // The same for a program that is fed with its own results; null if the backend does not support this.
  virtual std::unique_ptr<ResidentProgram> resident(const Program&, const Arrays&, const std::vector<Feed>&) {
    return nullptr;
  }
  // The same for many sets of arguments. By default, they run one after the other.
  virtual std::unique_ptr<ManyRuns> many(const Program& program, const Arrays& constants,
                                         const std::vector<Feed>& feeds);
  virtual ProgramNeeds              needs(const Program& program, const std::vector<Feed>& feeds) = 0;
  // The reason why it cannot run programs, or not at full speed; empty if it can.
  virtual std::string problem() const { return ""; }
  // Free bytes of device memory, if programs do not run in the memory of the machine.
  virtual std::optional<int64_t> memory() const { return {}; }
};

// The backends built into this library, the reference interpreter first.
const std::vector<Backend*>& backends();
// A backend by name, or "cuda:1" for another device, or "auto": cuda if a device works, else cpu with a note. Throws a
// UserError that lists the known names.
Backend& find_backend(std::string_view name);

// The backend that `jit` compiles with: that of the innermost BackendScope of this thread, else the one that was set
// for the process, which is initially the one named by the environment variable BRAINTRACE_BACKEND, or `cpu`.
Backend& default_backend();
void     set_default_backend(std::string_view name);
// The same, if BRAINTRACE_BACKEND is not set: for processes that run most programs only once, and for tests.
void prefer_backend(std::string_view name);

// The precision to which f32 matrix products round their operands, on backends that have a choice: "f32" (no rounding),
// "tf32" or "bf16". Sums are always in f32. A change affects later calls; jitted functions are compiled again. The
// initial value is that of the environment variable BRAINTRACE_PRECISION, or f32.
std::string product_precision();
void        set_product_precision(std::string_view name);

// While it lives, this thread has a different default backend.
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
