// SPDX-License-Identifier: Apache-2.0
// Reproducible random choices.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace braintrace::oracle {

class Dice {
 public:
  // Neighboring seeds are far apart: the sequence of one is not a shifted copy of the other.
  explicit Dice(uint64_t seed) : state_(seed) { state_ = next(); }

  uint64_t next() {  // splitmix64, Steele et al. 2014
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z          = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z          = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double  unit() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }  // in (0, 1)
  double  between(double a, double b) { return a + (b - a) * unit(); }
  int64_t whole(int64_t a, int64_t b) { return a + static_cast<int64_t>(next() % static_cast<uint64_t>(b - a + 1)); }
  bool    chance(double p) { return unit() < p; }
  double  normal() { return std::sqrt(-2 * std::log(unit())) * std::cos(6.283185307179586 * unit()); }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(whole(0, static_cast<int64_t>(list.size()) - 1))];
  }

 private:
  uint64_t state_;
};

}  // namespace braintrace::oracle
