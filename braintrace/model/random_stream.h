// SPDX-License-Identifier: Apache-2.0
// A seeded stream of random keys. It is a state, so it works in jitted functions and loops, repeats if the seed is set
// again, and is saved with a model that registers it. Under vmap, every sample draws its own keys.
//
//   bt::random::seed(42);
//   const bt::Tensor noise = bt::random::normal(bt::random::next(), {8});
#pragma once

#include "braintrace/model/state.h"

namespace braintrace {

struct RandomStream : State {
  explicit RandomStream(uint64_t seed);

  void   seed(uint64_t value) const;
  Tensor next() const;  // a new key; advances the stream
};

namespace random {

// The default stream. The whole process shares it: draw from it in only one thread.
RandomStream& default_stream();
void          seed(uint64_t value);
Tensor        next();

// Draws from the standard normal distribution with the next key of the default stream, in the environment's precision:
//   0.01 * bt::random::randn(n_in, n_rec)
Tensor randn(Shape shape);
template <std::integral... I>
Tensor randn(int64_t first, I... rest) {
  return randn(Shape{first, static_cast<int64_t>(rest)...});
}

}  // namespace random

}  // namespace braintrace
