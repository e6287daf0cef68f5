// SPDX-License-Identifier: Apache-2.0
// Batching: a program over samples becomes a program over a leading batch axis.
#pragma once

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

struct VmapResult {
  Tensors out;
  Mask    batched;  // results that depend on the batch carry the leading axis
};

// Inputs are constants, then arguments; the marked ones carry a leading axis of `size`.
VmapResult vmap(const Program& program, const Tensors& in, const Mask& batched, int64_t size);

// The same; the results marked in `reached` carry the axis even if they do not depend on the batch.
Tensors vmap(const Program& program, const Tensors& in, const Mask& batched, int64_t size, const Mask& reached);

// Marked types get a leading axis.
Types with_batch_axis(Types types, const Mask& batched, int64_t size);

// Marked arguments get a leading axis; all results carry it. Constants become leading arguments.
Program vmap_program(const Program& program, const Mask& batched, int64_t size);

}  // namespace braintrace
