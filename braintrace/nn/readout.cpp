// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/readout.h"

#include <cmath>

#include "braintrace/etp/dense.h"
#include "braintrace/ops/math.h"

namespace braintrace::nn {

LeakyRateReadout::LeakyRateReadout(const Size& in_size, const Size& out_size, ReadoutOptions o)
    : W(state("W", ParamState(o.w_init({in_size.checked("LeakyRateReadout", "in_size").dims()[0],
                                        out_size.checked("LeakyRateReadout", "out_size").dims()[0]})))),
      r(state("r", hidden_state({out_size.dims()[0]}, o.r_init))),
      decay_(std::exp(-o.dt.ms() / o.tau.value)) {
  require(o.tau.value > 0, "LeakyRateReadout: tau must be positive, got {} ms.", o.tau.value);
  field("in_size", in_size.text());
  field("out_size", out_size.text());
  field("tau", fmt::format("{} ms", o.tau.value));
}

Tensor LeakyRateReadout::update(const Tensor& x) {
  const Tensor kept = decay_ * r.value();
  const Tensor y    = fold_batch(x, 1, [&](const Tensor& v) { return matmul(v, W.value()); });
  r.set(kept + y);
  return r.value();
}

}  // namespace braintrace::nn
