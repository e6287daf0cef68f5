// SPDX-License-Identifier: Apache-2.0
// What runs programs. A backend takes a *whole* program, never one call per op, so adding an op never touches it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace {

// A program made ready to run, any number of times and from any thread.
class Executable {
 public:
  virtual ~Executable() = default;
  // Arguments in the order of program.args, of exactly their types.
  virtual Arrays run(const Arrays& args) = 0;
};

class Backend {
 public:
  virtual ~Backend()                    = default;
  virtual std::string_view name() const = 0;
  // `constants` are the values of program.constants.
  virtual std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) = 0;
};

// The backends built into this library, the reference interpreter first.
const std::vector<Backend*>& backends();
Backend&                     find_backend(std::string_view name);  // throws UserError listing the known names

// The backend that `jit` compiles with, for the whole process: the one that was set; at first the one that
// BRAINTRACE_BACKEND names in the environment, or `cpu`.
Backend& default_backend();
void     set_default_backend(std::string_view name);
// The same where the environment names none: for programs that run most of their programs once, and for tests.
void prefer_backend(std::string_view name);

}  // namespace braintrace
