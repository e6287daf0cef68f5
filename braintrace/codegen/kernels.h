// SPDX-License-Identifier: Apache-2.0
// Kernels of operations that are not elementwise loops.
#pragma once

#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

// Collects what the functions of a schedule share.
class Scheduler {
 public:
  explicit Scheduler(const Options& options) : options(options) {}

  FunctionPtr function(const Program& program);  // for a lowered program
  int64_t     constant(const Array& value);      // its index; equal arrays share one
  Kernel      kernel(const Program& p, const Eqn& e, const Fused& fused);

  Options  options;  // with the depth of the function at work
  Schedule schedule;
};

// An equation that needs its own kernel.
struct Site {
  Scheduler&                  in_schedule;
  const Program&              p;
  const Eqn&                  e;
  const Vars&                 memory;
  const std::vector<int32_t>& producer;

  const Target& target() const { return in_schedule.options.target; }
  Var           in(size_t i) const { return memory[e.in[i]]; }
  Var           out(size_t i) const { return memory[e.out[i]]; }
  Vars          ins(size_t from = 0) const { return gather(memory, part(e.in, from, e.in.size())); }
  Vars          outs() const { return gather(memory, e.out); }
  const Type&   in_type(size_t i) const { return p.type(e.in[i]); }
  const Type&   out_type(size_t i) const { return p.type(e.out[i]); }
};

// The kernel of an operation. Most kernels compute with stored elements, which is not possible for 16-bit floats: the
// host evaluates these, unless the kernel only moves or draws elements, or contains functions.
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
