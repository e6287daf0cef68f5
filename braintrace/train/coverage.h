// SPDX-License-Identifier: Apache-2.0
// Which samples of a part are evaluated: each at most once, in batches, the last of which may be filled up with other
// samples.
#pragma once

#include <algorithm>

#include "braintrace/tasks/task.h"

namespace braintrace::train {

class Coverage {
 public:
  // This many batches, or the whole part for 0; four if the part is endless.
  Coverage(const tasks::TaskFacts& facts, tasks::Part part, int64_t batches, int64_t size)
      : samples_(facts.samples(part)), contiguous_(facts.contiguous) {
    const int64_t whole = (samples_ + size - 1) / size;
    batches_            = batches > 0 ? batches : samples_ > 0 ? whole : 4;
    if (samples_ > 0) batches_ = std::min(batches_, whole);
  }

  int64_t batches() const { return batches_; }
  // Whether sample n, counted through rows and batches, is one of them. A contiguous task masks rows beyond its end.
  bool holds(int64_t n) const { return contiguous_ || samples_ == 0 || n < samples_; }

 private:
  int64_t samples_, batches_ = 0;
  bool    contiguous_;
};

}  // namespace braintrace::train
