// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/refractory.h"

#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

constexpr double long_ago = 1e7;  // ms

ShortTermState long_since(const Size& size) {
  return ShortTermState([dims = size.dims()](BatchSize batch) {
    return Leaves{{"", Initializer(long_ago)(batched(dims, batch))}};
  });
}

void RefractoryClock::run(const StateMap& hidden, double dt, const std::function<void()>& integrate,
                          const std::function<Tensor()>& spikes) const {
  Tensors held;
  for (const auto& [path, state] : hidden) held.push_back(state.value());
  integrate();
  const Tensor elapsed = stop_gradient(since_.value()) + dt;
  const Tensor resting = less(elapsed, broadcast_to(tau_ref_.value(elapsed), elapsed.shape()));
  for (size_t i = 0; i < hidden.size(); ++i) {
    const State& s = hidden[i].second;
    s.set(select(resting, held[i], s.value()));
  }
  since_.set(stop_gradient(elapsed * (1 - spikes())));
}

}  // namespace braintrace::nn
