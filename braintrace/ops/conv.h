// SPDX-License-Identifier: Apache-2.0
// Convolution in one to three (or more) spatial dimensions, as cross-correlation: the kernel is not flipped.
#pragma once

#include <string>

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op conv_op;

// Elements added before (lo) and after (hi) each spatial axis.
struct Padding {
  enum class Kind : uint8_t { Valid, Same, Explicit };
  Kind kind = Kind::Valid;
  Ints lo, hi;

  static Padding valid() { return {}; }
  // ⌈size / stride⌉ results; half of the padding, rounded down, goes before.
  static Padding same() { return {Kind::Same, {}, {}}; }
  static Padding of(Ints lo, Ints hi) { return {Kind::Explicit, std::move(lo), std::move(hi)}; }
};

// lo and hi for the given spatial sizes and windows of the given (dilated) extents.
Padding resolved(const Padding& padding, const Ints& sizes, const Ints& extents, const Ints& stride, const char* where);

// Lists have one entry per spatial axis; empty means 1 everywhere.
struct ConvOptions {
  Ints        stride;
  Padding     padding;
  Ints        lhs_dilation;  // x with lhs_dilation-1 zeros between neighbors
  Ints        rhs_dilation;  // kernel with gaps
  int64_t     groups = 1;    // channels are divided into groups that do not mix
  std::string layout;        // "NHWC,HWIO->NHWC": N batch, C channels, I/O in and out, other letters spatial.
                             // Empty: channels last, as in this example.
};
// An option with one entry per spatial axis; ones where it is empty. `what` names it in messages.
Ints one_each(const Ints& list, size_t n, const char* what);
// The plain operation; with `conv`, the kernel learns online.
Tensor convolve(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});

const std::vector<const Op*>& conv_ops();

}  // namespace braintrace
