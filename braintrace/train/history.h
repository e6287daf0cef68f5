// SPDX-License-Identifier: Apache-2.0
// The history of a run in bounded memory: means over stretches of equally many updates. If there are too many
// stretches, neighbors are merged and stretches become twice as long. A resumed run has the same history.
#pragma once

#include "braintrace/io/npy.h"
#include "braintrace/train/run_record.h"

namespace braintrace::train {

class History {
 public:
  void                           add(const StepRecord& r);
  const std::vector<StepRecord>& stretches() const { return done_; }

  void save(NamedArrays& to) const;    // as run.steps and run.stretch
  void load(const NamedArrays& from);  // seconds are not kept

 private:
  static constexpr size_t most = 2000;

  std::vector<StepRecord> done_;
  StepRecord              open_;        // sums over the unfinished stretch
  int64_t                 count_  = 0;  // updates in it
  int64_t                 length_ = 1;  // of a stretch
};

}  // namespace braintrace::train
