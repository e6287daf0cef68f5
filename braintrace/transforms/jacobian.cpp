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

namespace {

// All unit tensors of a type: e[k] is one at flat position k.
Tensor unit_tensors(const Type& t) {
  const int64_t n     = t.size();
  const Tensor  eye   = convert(equal(iota({n, n}, 0), iota({n, n}, 1)), t.dtype);
  Shape         shape = t.shape;
  shape.insert(shape.begin(), n);
  return reshape(eye, shape);
}

Shape joined_shape(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The input in question, and the linear map of the run with respect to it.
struct Run {
  Type      wrt;
  LinearMap linear;

  Run(const Program& p, const Tensors& in, size_t input, const char* where) {
    const Vars inputs = program_inputs(p);
    require(input < inputs.size(), "{}: input {} was asked for, the program has {}.", where, input, inputs.size());
    wrt = p.type(inputs[input]);
    require(is_float(wrt.dtype), "{}: input {} is {}; only floating-point inputs have derivatives.", where, input,
            to_string(wrt));
    Mask active(inputs.size(), false);
    active[input] = true;
    linear        = linearize(p, in, active);
  }
  Jacobians zeros() const {
    Jacobians j{linear.out, {}};
    for (const Tensor& y : linear.out) j.of.emplace_back(Type{y.dtype(), joined_shape(y.shape(), wrt.shape)}, 0);
    return j;
  }
};

Mask all_but_last_unbatched(size_t constants) {
  Mask m(constants, false);
  m.push_back(true);
  return m;
}

template <class Jacobian>
Program as_program(const Program& program, Jacobian jacobian) {
  return with_constants_inside(trace(program.types_of(program_inputs(program)), [&](const Tensors& args) {
    const Jacobians j = jacobian(args);
    return concatenated(j.out, j.of);
  }));
}

}  // namespace

Jacobians jacfwd(const Program& program, const Tensors& in, size_t input) {
  const Run     run(program, in, input, "jacfwd");
  Jacobians     j   = run.zeros();
  const Traced& map = run.linear.map;
  const int64_t n   = run.wrt.size();
  if (n == 0) return j;
  const VmapResult r    = vmap(map.program, concatenated(map.constants, {unit_tensors(run.wrt)}),
                               all_but_last_unbatched(map.constants.size()), n);
  size_t           next = 0;
  for (size_t k = 0; k < j.of.size(); ++k) {
    if (!run.linear.live[k]) continue;
    const Tensor columns = with_batch_axis(r.out[next], r.batched[next], n);
    j.of[k]              = reshape(move_axis(columns, 0, -1), j.of[k].shape());
    ++next;
  }
  return j;
}

Jacobians jacrev(const Program& program, const Tensors& in, size_t input) {
  const Run     run(program, in, input, "jacrev");
  Jacobians     j    = run.zeros();
  const Traced& map  = run.linear.map;
  size_t        next = 0;
  for (size_t k = 0; k < j.of.size(); ++k) {
    if (!run.linear.live[k]) continue;
    const size_t  at = next++;
    const Type    y  = run.linear.out[k].type();
    const int64_t n  = y.size();
    if (n == 0) continue;
    const Traced     pull = trace({y}, [&](const Tensors& ct) {
      Tensors cts(map.program.results.size());
      cts[at] = ct[0];
      return instantiated(transpose(map.program, map.constants, cts), {run.wrt});
    });
    const VmapResult r    = vmap(pull.program, concatenated(pull.constants, {unit_tensors(y)}),
                                 all_but_last_unbatched(pull.constants.size()), n);
    j.of[k]               = reshape(with_batch_axis(r.out[0], r.batched[0], n), j.of[k].shape());
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
