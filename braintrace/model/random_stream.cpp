// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/random_stream.h"

#include "braintrace/model/environment.h"
#include "braintrace/ops/random.h"

namespace braintrace {

RandomStream::RandomStream(uint64_t seed) : State(StateKind::Random, Leaves{{"", random::key(seed)}}) {
  cell_->places = {{{}, "random stream"}};
}

void RandomStream::seed(uint64_t value) const { set(random::key(value)); }

Tensor RandomStream::next() const {
  const Tensors keys = random::split(value(), 2);
  set(keys[0]);
  return keys[1];
}

namespace random {

RandomStream& default_stream() {
  static RandomStream stream(0);
  return stream;
}
void   seed(uint64_t value) { default_stream().seed(value); }
Tensor next() { return default_stream().next(); }
Tensor randn(Shape shape) { return normal(next(), std::move(shape), Environment::precision()); }

}  // namespace random

}  // namespace braintrace
