// SPDX-License-Identifier: Apache-2.0
// The amount of work in a program.
#pragma once

namespace braintrace {

struct Work {
  double products   = 0;  // multiply-adds of matrix products and convolutions
  double elements   = 0;  // elementary operations in loops
  double series     = 0;  // those of them that need a series, a root or a division
  double far_bytes  = 0;  // memory traffic of kernels that exceed the processor's cache
  double near_bytes = 0;  // of the others
  double kernels    = 0;

  void add(const Work& w, double times = 1) {
    products += times * w.products;
    elements += times * w.elements;
    series += times * w.series;
    far_bytes += times * w.far_bytes;
    near_bytes += times * w.near_bytes;
    kernels += times * w.kernels;
  }
  double flops() const { return 2 * products + elements + 8 * series; }
  double bytes() const { return far_bytes + near_bytes; }
};

}  // namespace braintrace
