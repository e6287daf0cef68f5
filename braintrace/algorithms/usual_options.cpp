// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/usual_options.h"

namespace braintrace {

UsualOptions usual_options(const Algorithm& a, uint64_t seed) {
  if (a.name == "ES_D_RTRL") return {{.decay_or_rank = TraceDecay::decay(0.9)}, "decay 0.9"};
  if (a.name == "EProp") return {{.kappa_filter_decay = 0.5}, "kappa 0.5"};
  if (a.name == "SnAp") return {{.n = 2}, "n 2"};
  if (a.name == "UORO") return {{.projection_key = seed}, "one draw"};
  return {};
}

bool needs_more_than_a_loss(const Algorithm& a) { return a.name == "ThreeFactor" || a.name == "DNI"; }

}  // namespace braintrace
