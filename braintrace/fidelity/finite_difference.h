// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace braintrace {

// The derivative of f at 0, and an estimate of its error.
struct Slope {
  double value = 0, error = 0;
};

// Central differences D(h) = (f(h) - f(-h))/2h at h, h/2, h/4, …, extrapolated to h = 0 (Ridders 1982). Smooth
// functions need only a few steps; near a kink, the small steps, which stay on one side of it, determine the result.
// Ends when the error is below `enough`.
Slope slope_at_zero(const std::function<double(double)>& f, double largest_step, double enough);

}  // namespace braintrace
