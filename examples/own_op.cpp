// SPDX-License-Identifier: Apache-2.0
// Your own operation: one record with its function and its derivative. Batching, both modes of differentiation,
// printing and parsing follow from the record.
#include <cmath>

#include "braintrace/braintrace.h"

using bt::Tensor, bt::Tensors;

// y = log cosh x,  dy = tanh(x) dx
constinit const bt::Op log_cosh_op = bt::elementwise({
    .name   = "log_cosh",
    .doc    = "log(cosh(x)), a smooth |x|",
    .code   = {"log$f(cosh$f($a))", "", bt::ElementCost::Series},
    .scalar = {.real    = [](const double* x) { return std::log(std::cosh(x[0])); },
               .partial = {[](const Tensors& x, const Tensor&) { return bt::tanh(x[0]); }}},
});

inline Tensor log_cosh(const Tensor& x) { return bt::elementwise_apply(log_cosh_op, {x}); }

int main() {
  bt::register_op(log_cosh_op);

  const Tensor x = bt::Array::of<double>({-1, 0, 2}, {3});
  const auto   f = bt::trace({x.type()}, [](const Tensors& in) -> Tensors { return {bt::sum(log_cosh(in[0]))}; });
  fmt::print("{}", bt::print(bt::parse(bt::print(f.program))));

  const bt::Array gradient = bt::vjp(f.program, {x}, {true}).pullback({bt::ones({}, bt::DType::F64)})[0].array();
  fmt::print("gradient {}\n", bt::to_string(gradient));
  return bt::at(gradient, 2) == std::tanh(2.0) ? 0 : 1;
}
