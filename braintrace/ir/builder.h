// SPDX-License-Identifier: Apache-2.0
// Builder: a program under construction (a trace). Traces nest like function calls: a trace opened later is the inner
// one. A tensor of an outer trace, or a concrete array, used inside becomes a *constant* of the inner program; `finish`
// returns those outer tensors together with the program.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
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
  // The id of `t` in this program; captures `t` if it comes from outside.
  Var    use(const Tensor& t);
  Traced finish(const Tensors& results);

  // The equation that computes `v`, or null for inputs. Valid until the next equation is added.
  const Eqn*  producer(Var v) const;
  Tensor      captured(Var v) const;  // the captured outer value of `v`; undefined if `v` was not captured
  const Type& type(Var v) const { return program_.type(v); }

  bool     is_open() const { return open_; }
  void     abandon() { open_ = false; }  // tensors of the trace can no longer be used
  uint64_t serial() const { return serial_; }

 private:
  struct Capture {
    Array array;
    Var   var;
  };

  Builder();
  Var     literal(const Tensor& t);
  Var     outer(const Tensor& t);
  Var     concrete(const Array& array);
  Var     constant(const Tensor& value);
  int32_t note_index();
  void    note_producer(Var v);

  uint64_t                                              serial_;
  bool                                                  open_ = true;
  Program                                               program_;
  Tensors                                               constants_;
  std::map<std::tuple<DType, Shape, uint64_t>, Var>     literals_;  // by type and bits of the value
  std::unordered_map<const void*, std::vector<Capture>> captured_;  // concrete arrays by storage
  std::map<std::pair<uint64_t, Var>, Var>               outer_;     // outer values by (trace, var)
  std::unordered_map<std::string, int32_t>              note_index_;
  std::vector<int32_t>                                  producer_;  // by value: index of its equation, or -1
};

// Operands and attributes of the equation that computes `t`, if its operation is `op`; used by `simplify` rules.
struct Made {
  Tensors in;
  Attrs   attrs;
};
std::optional<Made> made_by(const Op& op, const Tensor& t);

// The innermost open trace among the tensors; null if all are concrete. Throws UserError if a trace has finished.
std::shared_ptr<Builder> innermost_trace(const Tensors& tensors);

// Replays a program on tensors: evaluates it, or appends its equations to their trace.
Tensors replay(const Program& program, const Tensors& constants, const Tensors& args);

// Abandons a trace if an exception leaves the scope, so that later uses of its tensors fail.
class TraceGuard {
 public:
  explicit TraceGuard(std::shared_ptr<Builder> trace) : trace_(std::move(trace)) {}
  ~TraceGuard() {
    if (std::uncaught_exceptions() > before_) trace_->abandon();
  }
  TraceGuard(const TraceGuard&)            = delete;
  TraceGuard& operator=(const TraceGuard&) = delete;

 private:
  std::shared_ptr<Builder> trace_;
  int                      before_ = std::uncaught_exceptions();
};

// Traces f on arguments of the given types.
template <class F>
Traced trace(const Types& types, F&& f) {
  auto       builder = Builder::open();
  TraceGuard guard(builder);
  Tensors    args;
  for (const Type& t : types) args.push_back(builder->argument(t));
  return builder->finish(f(args));
}

}  // namespace braintrace
