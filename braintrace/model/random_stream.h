// SPDX-License-Identifier: Apache-2.0
// A seeded stream of random keys. It is a state, so drawing works in jitted functions and loops, is replayed by
// resetting the seed, and is saved with a model that registers it.
#pragma once

#include "braintrace/model/state.h"

namespace braintrace {

struct RandomStream : State {
  explicit RandomStream(uint64_t seed);

  void   seed(uint64_t value) const;
  Tensor next() const;  // a fresh key; the stream moves on
};

// The stream of functions that are not given one. It belongs to the process: seed it, and draw from one thread.
RandomStream& default_stream();
void          seed(uint64_t value);

// `count` independent keys from one: [count, 2].
Tensor split_key(const Tensor& key, int64_t count);

}  // namespace braintrace
