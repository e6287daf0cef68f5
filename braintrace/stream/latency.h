// SPDX-License-Identifier: Apache-2.0
// Percentiles of any number of durations in fixed memory: bin widths grow by 1/32, so a percentile is at most 1/32
// above the true one, and never below it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace braintrace::stream {

class Latency {
 public:
  void add(double seconds) {
    ++bins_[bin(seconds)];
    ++count_;
    sum_ += seconds;
    max_ = std::max(max_, seconds);
  }
  int64_t count() const { return count_; }
  double  max() const { return max_; }
  double  mean() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }
  // The smallest duration that a fraction `q` of all durations do not exceed.
  double percentile(double q) const {
    int64_t left = static_cast<int64_t>(std::ceil(q * static_cast<double>(count_)));
    for (size_t i = 0; i < bins_.size(); ++i)
      if ((left -= bins_[i]) <= 0 && count_ > 0) return std::min(max_, upper_end(i));
    return max_;
  }

 private:
  static constexpr double shortest = 1e-8,
                          growth   = 1 + 1.0 / 32;  // seconds; the last bin holds everything above about 100 s
  static size_t bin(double seconds) {
    const double i = seconds <= shortest ? 0 : std::ceil(std::log(seconds / shortest) / std::log(growth));
    return static_cast<size_t>(std::min(i, 767.0));
  }
  static double upper_end(size_t i) {
    return i == 767 ? INFINITY : shortest * std::pow(growth, static_cast<double>(i));
  }

  std::array<int64_t, 768> bins_{};
  int64_t                  count_ = 0;
  double                   sum_ = 0, max_ = 0;
};

}  // namespace braintrace::stream
