// SPDX-License-Identifier: Apache-2.0
// Kernels of ops that are not loops over elements.
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

// Gathers what the functions of a schedule share.
class Scheduler {
 public:
  explicit Scheduler(const Options& options) : options(options) {}

  FunctionPtr function(const Program& program);  // of a lowered program
  int64_t     constant(const Array& value);      // its number; equal arrays have one
  Kernel      kernel(const Program& p, const Eqn& e, const Vars& memory);

  const Options& options;
  Schedule       schedule;

 private:
  int depth_ = 0;  // functions around the one at work
};

// One equation with a kernel of its own.
struct Site {
  Scheduler&     in_schedule;
  const Program& p;
  const Eqn&     e;
  const Vars&    memory;

  const Target& target() const { return in_schedule.options.target; }
  Var           in(size_t i) const { return memory[e.in[i]]; }
  Var           out(size_t i) const { return memory[e.out[i]]; }
  Vars          ins(size_t from = 0) const { return gather(memory, part(e.in, from, e.in.size())); }
  Vars          outs() const { return gather(memory, e.out); }
  const Type&   in_type(size_t i) const { return p.type(e.in[i]); }
  const Type&   out_type(size_t i) const { return p.type(e.out[i]); }
};

// The kernel of an equation. Most compute with elements as they are stored, which 16-bit floats do not allow: the host
// takes these, except where elements are only moved or drawn, or nested functions take them.
struct Rule {
  const Op* op;
  Kernel (*kernel)(Site&);
  bool takes_16_bits = false;
};
using Rules = std::vector<Rule>;
Rules control_rules();
Rules index_rules();
Rules movement_rules();
Rules product_rules();
Rules random_rules();
Rules sparse_rules();
Rules window_rules();

}  // namespace braintrace::codegen
