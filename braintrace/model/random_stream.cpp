// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/random_stream.h"

#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

Tensor key_of(uint64_t seed) {
  return Array::of<uint32_t>({static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, {2});
}

}  // namespace

RandomStream::RandomStream(uint64_t seed) : State(StateKind::Random, Leaves{{"", key_of(seed)}}) {}

void RandomStream::seed(uint64_t value) const { set(key_of(value)); }

Tensor RandomStream::next() const {
  const Tensor keys = split_key(value(), 2);
  set(reshape(slice_axis(keys, 0, 0, 1), {2}));
  return reshape(slice_axis(keys, 0, 1, 2), {2});
}

RandomStream& default_stream() {
  static RandomStream stream(0);
  return stream;
}
void seed(uint64_t value) { default_stream().seed(value); }

Tensor split_key(const Tensor&, int64_t) { fail("stub"); }

}  // namespace braintrace
