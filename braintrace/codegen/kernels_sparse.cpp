// SPDX-License-Identifier: Apache-2.0
// Sparse products, and event-driven operations on known patterns (events.h).
#include <algorithm>

#include "braintrace/codegen/events.h"
#include "braintrace/codegen/kernels.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/sparse.h"

namespace braintrace::codegen {

namespace {

// Sizes; all leading axes of the dense operands are flattened into L.
std::vector<std::pair<std::string_view, int64_t>> sparse_sizes(int64_t entries, const Shape& dense, int64_t m) {
  return {{"L", size_of(Shape(dense.begin(), dense.end() - 1))}, {"E", entries}, {"n", dense.back()}, {"m", m}};
}

// Indices known at compile time are checked here instead of at run time.
Kernel over_entries(const Site& s, Routine r, size_t from, int64_t n, int64_t m) {
  r.checks = !is_known_below(s.p, s.e.in[from], n) || !is_known_below(s.p, s.e.in[from + 1], m);
  return {.what = r, .may_stop = r.checks};
}

// y[l, to[e]] += values[e] x[l, from[e]]
Kernel sparse_dot(Site& s) {
  const DType   t = s.out_type(0).dtype;
  const int64_t m = s.e.attrs[keys::size];
  Kernel        k = over_entries(s,
                                 {s.e.op,
                                  t,
                                  sparse_sizes(s.in_type(0).size(), s.in_type(3).shape, m),
                                  {{"v", s.in(0)}, {"from", s.in(1)}, {"to", s.in(2)}, {"x", s.in(3)}, {"y", s.out(0)}}},
                                 1, s.in_type(3).shape.back(), m);
  k.scratch       = std::max<int64_t>(m * 8, 1);
  return k;
}

// values[e] = Σ_l a[l, from[e]] c[l, to[e]]
Kernel sparse_sample(Site& s) {
  const DType   t = s.out_type(0).dtype;
  const int64_t n = s.in_type(2).shape.back(), m = s.in_type(3).shape.back();
  return over_entries(s,
                      {s.e.op,
                       t,
                       sparse_sizes(s.in_type(0).size(), s.in_type(2).shape, m),
                       {{"from", s.in(0)}, {"to", s.in(1)}, {"a", s.in(2)}, {"c", s.in(3)}, {"y", s.out(0)}}},
                      0, n, m);
}

// Per row of x: the number of nonzeros, whether any element is non-finite, and the positions of the nonzeros. `length`:
// integers written per row.
Kernel event_list(Site& s) {
  const Shape&  x    = s.in_type(0).shape;
  const int64_t rows = s.in_type(0).size() / x.back();
  Routine       r{s.e.op,
            s.in_type(0).dtype,
            {{"L", rows}, {"n", x.back()}, {"length", s.out_type(0).shape.back()}},
            {{"x", s.in(0)}, {"y", s.out(0)}}};
  return {.what = std::move(r), .parts = rows, .work = s.in_type(0).size()};
}

// Per column of x: the number of nonzero rows, and which. A part is a range of columns.
Kernel event_rows(Site& s) {
  const int64_t run = s.target().event_columns;
  const int64_t B = s.in_type(0).shape[0], n = s.in_type(0).shape[1];
  Routine       r{s.e.op, s.in_type(0).dtype, {{"B", B}, {"n", n}, {"run", run}}, {{"x", s.in(0)}, {"y", s.out(0)}}};
  return {.what = std::move(r), .parts = parts_in(n, run), .work = B * n};
}

// y[l, to[e]] += values[e] x[l, from[e]] for the nonzero sources of row l. A part is a block of targets.
Kernel event_dot(Site& s) {
  const Shape&  x = s.in_type(X).shape;
  const int64_t E = s.in_type(Values).size(), n = x.back(), m = s.e.attrs[keys::size];
  auto          sizes  = sparse_sizes(E, x, m);
  const int64_t blocks = (s.in_type(Starts).size() - 1) / n;
  sizes.emplace_back("P", blocks);
  Routine r{s.e.op,
            s.out_type(0).dtype,
            std::move(sizes),
            {{"v", s.in(Values)},
             {"x", s.in(X)},
             {"starts", s.in(Starts)},
             {"targets", s.in(Targets)},
             {"events", s.in(XEvents)},
             {"y", s.out(0)}}};
  if (s.in_type(Order).size()) r.buffers.emplace_back("order", s.in(Order));
  if (s.in_type(Ends).size()) {
    r.buffers.emplace_back("ends", s.in(Ends));
    r.buffers.emplace_back("from", s.in(From));
  }
  const int64_t rows = size_of(x) / n;
  return {.what = std::move(r), .parts = blocks, .work = rows * (n + E / 4)};
}

// y[e] = w[e] ± Σ_b u[b, from[e]] v[b, to[e]]. A part is a range of sources, targets or entries.
Kernel event_update(Site& s) {
  const int64_t E = s.in_type(W).size(), n = s.in_type(U).shape.back(), m = s.in_type(V).shape.back();
  const int64_t B = s.in_type(U).size() / n, parts = std::max<int64_t>(1, E / s.target().event_part);
  Routine       r{s.e.op,
            s.out_type(0).dtype,
            {{"B", B}, {"E", E}, {"n", n}, {"m", m}, {"parts", parts}},
            {{"w", s.in(W)},
                   {"u", s.in(U)},
                   {"v", s.in(V)},
                   {"from", s.in(UAt)},
                   {"to", s.in(VAt)},
                   {"v_starts", s.in(VStarts)},
                   {"u_events", s.in(UEvents)},
                   {"v_events", s.in(VEvents)},
                   {"y", s.out(0)}}};
  r.reverse = !s.e.attrs[adds];
  if (s.in_type(UStarts).size()) r.buffers.emplace_back("u_starts", s.in(UStarts));
  if (s.in_type(VOrder).size()) r.buffers.emplace_back("v_order", s.in(VOrder));
  return {.what = std::move(r), .parts = parts, .work = E, .in_place = {{s.out(0), s.in(W)}}};
}

}  // namespace

Rules sparse_rules() {
  return {{&sparse_dot_op, sparse_dot}, {&sparse_sample_op, sparse_sample}, {&event_list_op, event_list},
          {&event_rows_op, event_rows}, {&event_dot_op, event_dot},         {&event_update_op, event_update}};
}

}  // namespace braintrace::codegen
