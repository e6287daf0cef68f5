// SPDX-License-Identifier: Apache-2.0
// Builder: a program under construction (a trace). Traces nest like function calls: a trace opened later
// is the inner one. A tensor of an outer trace, or a concrete array, used inside becomes a *constant* of the
// inner program; `finish` returns those outer tensors beside the program.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "braintrace/ir/tensor.h"

namespace braintrace {

struct Traced {
  Program program;
  Tensors constants;  // values of program.constants: concrete, or of an enclosing trace
};

class Builder : public std::enable_shared_from_this<Builder> {
 public:
  static std::shared_ptr<Builder> open();
  ~Builder();

  Tensor  argument(const Type& type);
  Tensors emit(const Op& op, const Tensors& in, Attrs attrs, const Types& out_types);
  // The id of `t` in this program, capturing it when it comes from outside.
  Var    use(const Tensor& t);
  Traced finish(const Tensors& results);
  // The operands of the equation that defines v when its op is `op`, else none: lets a simplify rule look one step
  // back.
  Tensors operands_of(Var v, const Op& op);

  bool     is_open() const { return open_; }
  uint64_t serial() const { return serial_; }

 private:
  Builder();
  Var     literal(const Tensor& t);
  int32_t note_index();

  uint64_t                                          serial_;
  bool                                              open_ = true;
  Program                                           program_;
  Tensors                                           constants_;
  std::map<std::tuple<DType, Shape, uint64_t>, Var> literals_;  // by type and bits of the value
  std::unordered_map<const void*, Var>              captured_;  // concrete arrays by storage
  std::map<std::pair<uint64_t, Var>, Var>           outer_;     // outer values by (trace, var)
  std::unordered_map<std::string, int32_t>          note_index_;
};

// The innermost open trace among the tensors, or null when all are concrete; throws UserError for a tensor
// whose trace is finished.
std::shared_ptr<Builder> innermost_trace(const Tensors& tensors);

// The operands from which `op` made t, when t is traced and was made by `op`; else none.
Tensors made_by(const Op& op, const Tensor& t);

// Replays a program on tensors: evaluates it, or appends its equations to their trace.
Tensors replay(const Program& program, const Tensors& constants, const Tensors& args);

// Traces f on arguments of the given types.
template <class F>
Traced trace(const Types& types, F&& f) {
  auto    builder = Builder::open();
  Tensors args;
  for (const Type& t : types) args.push_back(builder->argument(t));
  return builder->finish(f(args));
}

}  // namespace braintrace
