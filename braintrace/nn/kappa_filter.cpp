// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/kappa_filter.h"

#include "braintrace/base/error.h"
#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

Tensor defined_start(const Tensor& init) {
  require(init.defined(), "KappaFilter: the first average is undefined.\n  Give a tensor such as zeros({{3}}).");
  return init;
}

}  // namespace

KappaFilter::KappaFilter(const Tensor& init, double kappa)
    : kappa_(kappa), average_(state("average", ShortTermState([first = defined_start(init)](BatchSize) {
                                      return Leaves{{"", first}};
                                    }))) {
  require(kappa >= 0 && kappa < 1, "KappaFilter: kappa must be in [0, 1), got {}.", kappa);
  average_.init({});
}

Tensor KappaFilter::update(const Tensor& x) {
  require(x.type() == value().type(), "KappaFilter: the average is {}, the input {}.", to_string(value().type()),
          to_string(x.type()));
  average_.set(kappa_ * value() + (1 - kappa_) * x);
  return value();
}

}  // namespace braintrace
