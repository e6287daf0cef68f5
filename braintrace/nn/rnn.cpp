// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/rnn.h"

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

namespace {

HiddenState zero_state(int64_t n) {
  return HiddenState([n](BatchSize batch) { return Leaves{{"", zeros(batch ? Shape{*batch, n} : Shape{n})}}; });
}

}  // namespace

ValinaRNNCell::ValinaRNNCell(int64_t n_in, int64_t n_rec)
    : W(n_in + n_rec, n_rec), h(state("h", zero_state(n_rec))), activation([](const Tensor& x) { return tanh(x); }) {
  children({{"W", W}});
}

Tensor ValinaRNNCell::update(const Tensor& x) {
  h.set(activation(W(concat({x, h.value()}, -1))));
  return h.value();
}

}  // namespace braintrace::nn
