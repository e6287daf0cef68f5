// SPDX-License-Identifier: Apache-2.0
// Block copies: concat, pad, roll, and dynamic slices.
#include "braintrace/codegen/kernels.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace::codegen {

namespace {

// Threads split the first axis of the result.
Kernel by_rows(Copies c, const Type& out) {
  c.rows = out.shape[0];
  return {.what = std::move(c), .parts = out.shape[0], .work = out.size()};
}

Kernel concat(Site& s) {
  const int64_t axis    = s.e.attrs[keys::axis];
  const Ints    strides = strides_of(s.out_type(0).shape);
  Copies        c{.out = s.out(0)};
  int64_t       at = 0;
  for (size_t i = 0; i < s.e.in.size(); ++i) {
    const Shape& shape = s.in_type(i).shape;
    c.blocks.push_back(
        {shape, s.out(0), at * strides[axis], strides, s.in(i), 0, strides_of(shape), axis == 0 ? at : 0});
    at += shape[axis];
  }
  return by_rows(c, s.out_type(0));
}

Kernel pad(Site& s) {
  const Shape &from = s.in_type(0).shape, &to = s.out_type(0).shape;
  Ints         steps = strides_of(to);
  int64_t      base  = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    base += s.e.attrs[keys::lo][i] * steps[i];
    steps[i] *= 1 + s.e.attrs[keys::interior][i];
  }
  const Copies c{s.in(1), size_of(to), s.out(0), {{from, s.out(0), base, steps, s.in(0), 0, strides_of(from)}}};
  return !to.empty() && from[0] == to[0] ? by_rows(c, s.out_type(0)) : Kernel{.what = c};
}

// Splits the array at the shift of every axis into blocks that move as a whole.
Kernel roll(Site& s) {
  const Shape& shape   = s.out_type(0).shape;
  const Ints   strides = strides_of(shape);
  Ints         by(shape.size(), 0);
  for (size_t k = 0; k < s.e.attrs[keys::axes].size(); ++k) {
    const int64_t i = s.e.attrs[keys::axes][k], n = shape[i];
    by[i] = n ? ((s.e.attrs[keys::shift][k] % n) + n) % n : 0;
  }
  Copies c{.out = s.out(0)};
  for (size_t corner = 0; corner < size_t{1} << shape.size(); ++corner) {
    Shape   part = shape;
    int64_t from = 0, to = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool wraps = corner >> i & 1;
      part[i]          = wraps ? by[i] : shape[i] - by[i];
      (wraps ? from : to) += (wraps ? shape[i] - by[i] : by[i]) * strides[i];
    }
    if (size_of(part)) c.blocks.push_back({part, s.out(0), to, strides, s.in(0), from, strides});
  }
  return {.what = c};
}

template <bool writes>
Kernel dynamic_block(Site& s) {
  const int64_t nb = s.e.attrs[keys::batch];
  const Shape & x = s.in_type(0).shape, &u = s.in_type(1).shape;
  const Shape   block = writes ? part(u, nb, static_cast<int64_t>(u.size())) : s.e.attrs[keys::sizes];
  return {.what = DynamicBlock{.writes  = writes,
                               .entries = size_of(part(x, 0, nb)),
                               .inner   = part(x, nb, static_cast<int64_t>(x.size())),
                               .block   = block,
                               .start   = s.in(writes ? 2 : 1),
                               .x       = s.in(0),
                               .update  = writes ? s.in(1) : -1,
                               .out     = s.out(0),
                               .bytes   = s.in_type(0).bytes()}};
}

}  // namespace

Rules movement_rules() {
  return {{&concat_op, concat, true},
          {&dynamic_slice_op, dynamic_block<false>, true},
          {&dynamic_update_slice_op, dynamic_block<true>, true},
          {&pad_op, pad, true},
          {&roll_op, roll, true}};
}

}  // namespace braintrace::codegen
