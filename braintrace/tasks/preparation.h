// SPDX-License-Identifier: Apache-2.0
// Preprocessing of the numbers of a data set.
//
//   missing    a cell without a number: `error` reports it, `skip` skips its sequence, `zero` and `mean` fill in 0 or
//              the mean of the training part. Missing targets are never filled in: their step has no loss
//   normalize  of every input over the training part: `standard` makes mean 0 and deviation 1, `minmax` makes 0 … 1,
//              x ↦ (x - shift) / scale
//   fitted     mean, shift and scale from an earlier training part, to be used unchanged
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/tasks/sequence_files.h"

namespace braintrace::tasks {

enum class Missing : uint8_t { Error, Skip, Zero, Mean };
Missing missing_of(const zoo::Fields& f);

class Preparation {
 public:
  Preparation() = default;
  // `visit` iterates over the sequences of the training part, with their lengths.
  using Show = std::function<void(const Sample&, int64_t length)>;
  Preparation(const zoo::Fields& f, int64_t width, const std::function<void(const Show&)>& visit);

  void           apply(const Sample& s, int64_t length) const;
  nlohmann::json fitted() const;  // null if nothing was fitted

 private:
  bool                fills_ = false, scales_ = false;
  std::vector<double> mean_, shift_, scale_;  // of every input
};

}  // namespace braintrace::tasks
