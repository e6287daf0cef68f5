// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "braintrace/etp/operands.h"
#include "braintrace/ops/conv.h"

namespace braintrace {

extern const Op etp_conv_op;

// Lists have one entry per spatial axis; empty means 1 everywhere.
struct TrainableConvOptions {
  Ints        stride       = {};
  Padding     padding      = Padding::same();
  Ints        lhs_dilation = {};  // x with lhs_dilation-1 zeros between neighbors
  Ints        rhs_dilation = {};  // kernel with gaps
  int64_t     groups       = 1;   // channels are divided into groups that do not mix
  std::string layout       = {};  // x,kernel->y as in "NHWC,HWIO->NHWC" ("NHWC,HWIO,NHWC" is the same): N batch,
                                  // C channels, I/O in and out, other letters spatial. Empty: "NCHW,OIHW->NCHW"
  WeightFn kernel_fn = {}, bias_fn = {};
};

// Trainable cross-correlation in one or more spatial dimensions: the kernel is not flipped. x may lack the batch axis.
// A bias of rank 1 is added along the channel axis of the layout; a bias of higher rank is broadcast.
Tensor conv(const Tensor& x, const Tensor& kernel, const Tensor& bias = {}, const TrainableConvOptions& options = {});

}  // namespace braintrace
