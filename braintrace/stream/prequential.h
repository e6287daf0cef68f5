// SPDX-License-Identifier: Apache-2.0
// Evaluation of a stream: it predicts every record before it learns from it, so the mean loss is a fair measure
// (prequential evaluation, Dawid 1984). Blocks of a thousand losses are compared with the best block so far:
//
//   drift    m > 1.5 m_best   and   m - m_best > 5 √(s² + s_best²)            m, s: mean of a block and its std. error
//
// After a drift, its block becomes the new best, so that a further rise is detected.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace braintrace::stream {

class Prequential {
 public:
  struct Drift {
    double loss = 0, best = 0;  // means of the last block and of the best one
  };

  std::optional<Drift> add(double loss) {
    const auto recent = static_cast<double>(++count_ < block ? count_ : block);
    mean_ += (loss - mean_) / static_cast<double>(count_);
    recent_ += (loss - recent_) / recent;
    const double before = loss - now_.mean;  // Welford 1962
    now_.mean += before / static_cast<double>(++in_block_);
    squares_ += before * (loss - now_.mean);
    if (in_block_ < block) return std::nullopt;
    now_.error    = std::sqrt(squares_) / static_cast<double>(block);
    const Block b = now_;
    now_          = {};
    squares_      = 0;
    in_block_     = 0;
    const Drift drift{b.mean, best_.mean};
    const bool  rises = b.mean > 1.5 * best_.mean && b.mean - best_.mean > 5 * std::hypot(b.error, best_.error);
    if (rises) ++drifts_;
    if (rises || b.mean < best_.mean) best_ = b;
    if (b.mean < least_) least_ = b.mean;
    return rises ? std::optional(drift) : std::nullopt;
  }

  int64_t               count() const { return count_; }
  double                mean() const { return mean_; }      // of all losses
  double                recent() const { return recent_; }  // over about the last thousand
  std::optional<double> least() const {                     // of a block, if there is one
    return std::isfinite(least_) ? std::optional(least_) : std::nullopt;
  }
  int64_t drifts() const { return drifts_; }

  static constexpr int64_t block = 1000;

 private:
  struct Block {
    double mean = 0, error = 0;
  };
  double  mean_ = 0, recent_ = 0, squares_ = 0, least_ = std::numeric_limits<double>::infinity();
  int64_t count_ = 0, in_block_ = 0, drifts_ = 0;
  Block   now_, best_{std::numeric_limits<double>::infinity()};
};

}  // namespace braintrace::stream
