// SPDX-License-Identifier: Apache-2.0
// Gather and scatter, sorting, running reductions, argmin and argmax.
#include "braintrace/codegen/kernels.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/ops/along.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/lanes.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"

namespace braintrace::codegen {

namespace {

// Sizes of the flattened axes: x : [B, P, N, Q], indices : [B, K], rows : [B, P, K, Q].
// Indices known at compile time are checked here instead of at run time.
Routine by_rows(const Site& s) {
  const Shape &x = s.in_type(0).shape, &i = s.in_type(1).shape;
  const auto   nb = s.e.attrs[keys::batch], k = s.e.attrs[keys::axis];
  return {.op      = s.e.op,
          .dtype   = s.out_type(0).dtype,
          .sizes   = {{"B", size_of(Shape(x.begin(), x.begin() + nb))},
                      {"P", size_of(Shape(x.begin() + nb, x.begin() + k))},
                      {"N", x[k]},
                      {"K", size_of(Shape(i.begin() + nb, i.end()))},
                      {"Q", size_of(Shape(x.begin() + k + 1, x.end()))},
                      {"size", s.in_type(0).size()}},
          .buffers = {{"x", s.in(0)}, {"at", s.in(1)}, {"y", s.out(0)}},
          .checks  = !is_known_below(s.p, s.e.in[1], x[k])};
}

Kernel take_or_scatter(Site& s) {
  const bool adds = s.e.op == &scatter_add_op;
  Routine    r    = by_rows(s);
  if (s.e.op != &take_op) r.buffers.emplace_back("u", s.in(2));
  return {.what = r, .scratch = adds ? std::max<int64_t>(s.in_type(0).size() * 8, 1) : 0, .may_stop = r.checks};
}

// Lanes along an axis, with n elements in x and m in y.
Routine by_lanes(const Site& s, const Shape& from, const Shape& to) {
  const Lanes f(from, s.e.attrs[keys::axis]), t(to, s.e.attrs[keys::axis]);
  return {s.e.op,
          s.out_type(0).dtype,
          {{"lanes", f.count()},
           {"stride", std::max<int64_t>(f.stride, 1)},
           {"n", f.length},
           {"m", t.length},
           {"size", size_of(to)}},
          {{"x", s.in(0)}, {"y", s.out(0)}}};
}

Kernel along(Site& s) {
  const bool adds = s.e.op == &add_along_op;
  Routine    r    = by_lanes(s, s.in_type(0).shape, s.out_type(0).shape);
  r.buffers.emplace_back("at", s.in(1));
  return {.what = r, .scratch = adds ? std::max<int64_t>(s.out_type(0).size() * 8, 1) : 0};
}

Kernel running(Site& s) {
  Routine r = by_lanes(s, s.in_type(0).shape, s.out_type(0).shape);
  r.reverse = s.e.attrs[keys::reverse];
  return {.what = r};
}

Kernel position(Site& s) {
  Routine r = by_lanes(s, s.in_type(0).shape, s.in_type(0).shape);
  r.types   = {{"S", s.in_type(0).dtype}};
  return {.what = r};
}

Kernel sort(Site& s) {
  Routine r = by_lanes(s, s.in_type(0).shape, s.out_type(0).shape);
  r.types   = {{"S", s.in_type(0).dtype}};
  r.buffers.emplace_back("at", s.out(1));
  r.reverse = s.e.attrs[keys::descending];
  return {.what = r, .scratch = std::max<int64_t>(2 * 8 * s.in_type(0).shape[s.e.attrs[keys::axis]], 1)};
}

}  // namespace

Rules index_rules() {
  return {{&add_along_op, along},
          {&argmax_op, position},
          {&argmin_op, position},
          {&cummax_op, running},
          {&cummin_op, running},
          {&cumprod_op, running},
          {&cumsum_op, running},
          {&scatter_add_op, take_or_scatter},
          {&scatter_set_op, take_or_scatter, true},
          {&sort_op, sort},
          {&take_op, take_or_scatter, true},
          {&take_along_op, along, true}};
}

}  // namespace braintrace::codegen
