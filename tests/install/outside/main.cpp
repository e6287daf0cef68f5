// SPDX-License-Identifier: Apache-2.0
// An outside user: d/dx Σ x² = 2x, through the installed headers and library.
#include "braintrace/braintrace.h"

int main() {
  const bt::Tensor x = bt::Array::of<double>({1, -2, 3}, {3});
  const auto f = bt::trace({x.type()}, [](const bt::Tensors& in) -> bt::Tensors { return {bt::sum(in[0] * in[0])}; });
  const bt::Array g    = bt::vjp(f.program, {x}, {true}).pullback({bt::ones({}, bt::DType::F64)})[0].array();
  const auto      copy = bt::decode_npy(bt::encode_npy(g), "memory");
  return bt::at(copy, 0) == 2 && bt::at(copy, 1) == -4 && bt::at(copy, 2) == 6 ? 0 : 1;
}
