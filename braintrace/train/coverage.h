// SPDX-License-Identifier: Apache-2.0
// Which samples of a part are judged: each at most once, in batches of which the last may be filled up with others.
#pragma once

#include <algorithm>

#include "braintrace/tasks/task.h"

namespace braintrace::train {

class Coverage {
 public:
  // So many batches, or the whole part for 0; four where it has no end.
  Coverage(const tasks::TaskFacts& facts, tasks::Part part, int64_t batches, int64_t size)
      : samples_(facts.samples(part)), contiguous_(facts.contiguous) {
    const int64_t whole = (samples_ + size - 1) / size;
    batches_            = batches > 0 ? batches : samples_ > 0 ? whole : 4;
    if (samples_ > 0) batches_ = std::min(batches_, whole);
  }

  int64_t batches() const { return batches_; }
  // Sample n, counted through rows and batches, is one of them. A contiguous task masks rows beyond its end itself.
  bool holds(int64_t n) const { return contiguous_ || samples_ == 0 || n < samples_; }

 private:
  int64_t samples_, batches_ = 0;
  bool    contiguous_;
};

}  // namespace braintrace::train
