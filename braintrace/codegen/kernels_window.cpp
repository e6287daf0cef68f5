// SPDX-License-Identifier: Apache-2.0
// Sliding windows and random numbers.
#include "braintrace/codegen/kernels.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/pool.h"
#include "braintrace/ops/random.h"

namespace braintrace::codegen {

namespace {

Kernel window(Site& s) {
  const DType t = s.e.op == &window_sum_op ? s.out_type(0).dtype : s.in_type(0).dtype;
  return {.what = Window{s.e.op, t, s.in_type(0).shape, s.out_type(0).shape, s.e.attrs[keys::window],
                         s.e.attrs[keys::stride], s.in(0), s.out(0)}};
}

// y[key, i] = random number at element i, for each key.
Kernel draws(Site& s) {
  const int64_t keys = s.in_type(0).size() / 2, n = keys ? s.out_type(0).size() / keys : 0;
  Routine       r{s.e.op, s.out_type(0).dtype, {{"keys", keys}, {"n", n}}, {{"key", s.in(0)}, {"y", s.out(0)}}};
  if (s.e.op == &random_fold_in_op) r.buffers.emplace_back("data", s.in(1));
  return {.what = r, .work = s.target().draw_elements * s.out_type(0).size()};
}

}  // namespace

Rules window_rules() { return {{&window_argmax_op, window}, {&window_max_op, window}, {&window_sum_op, window}}; }

Rules random_rules() {
  return {{&random_bits_op, draws, true},
          {&random_fold_in_op, draws, true},
          {&random_normal_op, draws, true},
          {&random_split_op, draws, true},
          {&random_uniform_op, draws, true}};
}

}  // namespace braintrace::codegen
