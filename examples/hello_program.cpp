// SPDX-License-Identifier: Apache-2.0
// A first program: trace a loss once, print it, differentiate it, and take a few gradient steps.
//
//   L(W) = mean over samples of (tanh(x W) - y)²       x : [B,I]   W : [I,O]   y : [B,O]
#include "braintrace/braintrace.h"

int main() {
  const bt::Tensor x = bt::Array::of<float>({0.5f, -1, 2, 1, 0, -0.5f}, {3, 2});
  const bt::Tensor y = bt::Array::of<float>({0.34f, 0.38f, 0.1f}, {3, 1});
  bt::Tensor       W = bt::Array::of<float>({0.1f, -0.3f}, {2, 1});

  // Calling the function on a symbolic W records its operations as a program, which is data.
  const auto [loss, captured] = bt::trace({W.type()}, [&](const bt::Tensors& in) -> bt::Tensors {
    const bt::Tensor error = bt::tanh(bt::dot(x, in[0])) - y;
    return {bt::sum(error * error) * (1.0 / 3)};
  });
  fmt::print("the loss\n{}\n", bt::print(loss));

  // Transforms turn programs into programs. Inputs are the captured x and y, then W; only W is differentiated.
  const bt::Program gradient = bt::simplify(bt::vjp_program(loss, {false, false, true}));
  fmt::print("the loss and its gradient\n{}\n", bt::print(gradient));

  double first = 0, last = 0;
  for (int step = 0; step < 50; ++step) {
    const bt::Tensors out = bt::replay(gradient, {}, {captured[0], captured[1], W, 1.0});
    W                     = W - 0.5 * out[1];
    last                  = out[0].item();
    if (step == 0) first = last;
    if (step % 10 == 0) fmt::print("step {:2}  loss {:.6f}\n", step, last);
  }
  return last < 0.5 * first ? 0 : 1;
}
