// SPDX-License-Identifier: Apache-2.0
// Sliding windows, and random numbers.
#include "braintrace/codegen/kernels.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/pool.h"
#include "braintrace/ops/random.h"

namespace braintrace::codegen {

namespace {

template <Window::Kind kind>
std::optional<Kernel> window(Site& s) {
  const DType t = kind == Window::Kind::Sum ? s.out_type(0).dtype : s.in_type(0).dtype;
  if (!is_plain(t)) return {};
  return Kernel{.what = Window{kind, t, s.in_type(0).shape, s.out_type(0).shape, s.e.attrs[keys::window],
                               s.e.attrs[keys::stride], s.in(0), s.out(0)}};
}

// y[key, i] = draw of element i, for each of the keys.
template <Routine::Kind kind>
std::optional<Kernel> draws(Site& s) {
  const int64_t keys = s.in_type(0).size() / 2, n = keys ? s.out_type(0).size() / keys : 0;
  Routine       r{kind, s.out_type(0).dtype, {{"keys", keys}, {"n", n}}, {{"key", s.in(0)}, {"y", s.out(0)}}};
  if (kind == Routine::Kind::FoldIn) r.buffers.emplace_back("data", s.in(1));
  return Kernel{.what = r, .work = 64 * s.out_type(0).size()};
}

}  // namespace

Rules window_rules() {
  return {{&window_argmax_op, window<Window::Kind::ArgMax>},
          {&window_max_op, window<Window::Kind::Max>},
          {&window_sum_op, window<Window::Kind::Sum>}};
}

Rules random_rules() {
  return {{&random_bits_op, draws<Routine::Kind::Bits>},
          {&random_fold_in_op, draws<Routine::Kind::FoldIn>},
          {&random_normal_op, draws<Routine::Kind::Normal>},
          {&random_split_op, draws<Routine::Kind::Split>},
          {&random_uniform_op, draws<Routine::Kind::Uniform>}};
}

}  // namespace braintrace::codegen
