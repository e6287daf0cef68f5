// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/jacobian.h"

#include "braintrace/ops/compare.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

Tensor unit_tensors(const Type& t) {
  const int64_t n   = t.size();
  const Tensor  eye = convert(equal(iota({n, n}, 0), iota({n, n}, 1)), t.dtype);
  return reshape(eye, joined(Shape{n}, t.shape));
}

namespace {

// The input in question, and the linear map of the run with respect to it.
struct Run {
  Type      wrt;
  LinearMap linear;

  Run(const Program& p, const Tensors& in, size_t input, const char* where) {
    const Vars inputs = program_inputs(p);
    require(input < inputs.size(), "{}: input {} was requested, the program has {}.", where, input, inputs.size());
    wrt = p.type(inputs[input]);
    require(is_float(wrt.dtype), "{}: input {} is {}; only floating-point inputs have derivatives.", where, input,
            to_string(wrt));
    Mask active(inputs.size(), false);
    active[input] = true;
    linear        = linearize(p, in, active);
  }
  Jacobians zeros() const {
    Jacobians j{linear.out, {}};
    for (const Tensor& y : linear.out) j.of.emplace_back(Type{y.dtype(), joined(y.shape(), wrt.shape)}, 0);
    return j;
  }
};

// Results of the map on all unit tensors of its one argument, with the leading axis of these.
Tensors on_unit_tensors(const Traced& map) {
  const Type type = map.program.type(map.program.args[0]);
  return vmap(map.program, joined(map.constants, Tensors{unit_tensors(type)}),
              joined(Mask(map.constants.size(), false), Mask{true}), type.size(),
              Mask(map.program.results.size(), true));
}

template <class Jacobian>
Program as_program(const Program& program, Jacobian jacobian) {
  return with_constants_inside(trace(program.types_of(program_inputs(program)), [&](const Tensors& args) {
    const Jacobians j = jacobian(args);
    return joined(j.out, j.of);
  }));
}

}  // namespace

Jacobians jacfwd(const Program& program, const Tensors& in, size_t input) {
  const Run run(program, in, input, "jacfwd");
  Jacobians j = run.zeros();
  if (run.wrt.size() == 0) return j;
  const Tensors columns = on_unit_tensors(run.linear.map);
  size_t        next    = 0;
  for (size_t k = 0; k < j.of.size(); ++k)
    if (run.linear.live[k]) j.of[k] = reshape(move_axis(columns[next++], 0, -1), j.of[k].shape());
  return j;
}

Jacobians jacrev(const Program& program, const Tensors& in, size_t input) {
  const Run     run(program, in, input, "jacrev");
  Jacobians     j    = run.zeros();
  const Traced& map  = run.linear.map;
  size_t        next = 0;
  for (size_t k = 0; k < j.of.size(); ++k) {
    if (!run.linear.live[k]) continue;
    const size_t at = next++;
    const Type   y  = run.linear.out[k].type();
    if (y.size() == 0) continue;
    const Traced pull = trace({y}, [&](const Tensors& ct) {
      Tensors cts(map.program.results.size());
      cts[at] = ct[0];
      return instantiated(transpose(map.program, map.constants, cts), {run.wrt});
    });
    j.of[k]           = reshape(on_unit_tensors(pull)[0], j.of[k].shape());
  }
  return j;
}

Program jacfwd_program(const Program& program, size_t input) {
  return as_program(program, [&](const Tensors& in) { return jacfwd(program, in, input); });
}
Program jacrev_program(const Program& program, size_t input) {
  return as_program(program, [&](const Tensors& in) { return jacrev(program, in, input); });
}

}  // namespace braintrace
