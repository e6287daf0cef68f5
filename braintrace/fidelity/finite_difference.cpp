// SPDX-License-Identifier: Apache-2.0
#include "braintrace/fidelity/finite_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace braintrace {

// D(h) = f' + c₂h² + c₄h⁴ + …, so that T_k(h) = (4ᵏ T_{k-1}(h) - T_{k-1}(2h))/(4ᵏ - 1) is free of the first k terms.
// The error of an entry is its distance from the two it comes from, plus the effect of rounding of f on D(h).
Slope slope_at_zero(const std::function<double(double)>& f, double largest_step, double enough) {
  constexpr int       levels = 15;  // h down to 6e-5 of the first
  Slope               best{0, std::numeric_limits<double>::infinity()};
  std::vector<double> above, row;  // entries at 2h, at h
  double              h = largest_step;
  for (int level = 0; level < levels && best.error > enough; ++level, h /= 2) {
    const double up = f(h), down = f(-h);
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * (std::abs(up) + std::abs(down)) / h;
    if (rounding > best.error) break;  // smaller steps tell less
    row          = {(up - down) / (2 * h)};
    double power = 1;
    for (int k = 1; k <= level; ++k) {
      power *= 4;
      const double finer = row[k - 1], coarser = above[k - 1], next = (power * finer - coarser) / (power - 1);
      row.push_back(next);
      const double error = std::max(std::abs(next - finer), std::abs(next - coarser)) + rounding;
      if (error < best.error) best = {next, error};
    }
    above = row;
  }
  return best;
}

}  // namespace braintrace
