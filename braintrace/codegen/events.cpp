// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/events.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/rewrite.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sparse.h"

namespace braintrace::codegen {

constinit const Op event_list_op = {
    .name     = "event_list",
    .doc      = "by row: the number of elements that are not zero, whether any is not finite, and their positions",
    .operands = "x",
    .infer    = [](const Op&, const Types& in, const Attrs& a) -> Types {
      Type out         = in[0];
      out.dtype        = DType::I32;
      out.shape.back() = 2 + (a[positions] ? out.shape.back() : 0);
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const int64_t n = in[0].shape().back(), length = out[0].shape.back(), rows = out[0].size() / length;
      const Doubles x(in[0]);
      Array         y(out[0]);
      std::fill_n(y.mutable_data<int32_t>(), y.size(), 0);
      for (int64_t l = 0; l < rows; ++l) {
        int32_t* list = y.mutable_data<int32_t>() + l * length;
        for (int64_t i = 0; i < n; ++i) {
          if (!std::isfinite(x[l * n + i])) list[1] = 1;
          if (x[l * n + i] == 0) continue;
          if (a[positions]) list[2 + list[0]] = static_cast<int32_t>(i);
          ++list[0];
        }
      }
      return {y};
    },
};

constinit const Op event_rows_op = {
    .name     = "event_rows",
    .doc      = "by column: the number of rows that are not zero there, and their positions",
    .operands = "x",
    .infer    = [](const Op&, const Types& in, const Attrs&) -> Types {
      return {{DType::I32, {in[0].shape[1], in[0].shape[0] + 1}}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs&, const Types& out) -> Arrays {
      const int64_t B = in[0].shape()[0], n = in[0].shape()[1];
      const Doubles x(in[0]);
      Array         y(out[0]);
      std::fill_n(y.mutable_data<int32_t>(), y.size(), 0);
      for (int64_t j = 0; j < n; ++j) {
        int32_t* list = y.mutable_data<int32_t>() + j * (B + 1);
        for (int64_t b = 0; b < B; ++b)
          if (x[b * n + j] != 0) list[1 + list[0]++] = static_cast<int32_t>(b);
      }
      return {y};
    },
};

constinit const Op event_dot_op = {
    .name     = "event_dot",
    .doc      = "x times a sparse matrix, by the entries of sources that are not zero",
    .operands = "values from to x starts order targets ends events",
    .infer    = [](const Op&, const Types& in, const Attrs& a) -> Types {
      return infer(sparse_dot_op, {in[Values], in[From], in[To], in[X]}, a);
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return sparse_dot_op.eval(sparse_dot_op, {in[Values], in[From], in[To], in[X]}, a, out);
    },
};

constinit const Op event_update_op = {
    .name     = "event_update",
    .doc      = "stored values of a sparse matrix with an outer product added where it has entries",
    .operands = "w u v from to u_starts v_starts v_order u_events v_events",
    .infer    = [](const Op&, const Types& in, const Attrs&) -> Types { return {in[0]}; },
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      const Tensor w = in[W], product = take(in[U], in[UAt], -1) * take(in[V], in[VAt], -1);
      const Tensor change = product.rank() == 2 ? sum(product, Ints{0}) : product;
      return {(a[adds] ? w + change : w - change).array()};
    },
};

Grouping grouped(const Array& key, int64_t keys, const Array& other, int64_t others, int64_t blocks) {
  const Integers k(key), o(other);
  const int64_t  E     = key.size();
  const auto     group = [&](int64_t e) { return k[e] * blocks + o[e] * blocks / others; };
  Array          starts({DType::I32, {keys * blocks + 1}}), order({DType::I32, {E}});
  auto *         at = starts.mutable_data<int32_t>(), *place = order.mutable_data<int32_t>();
  std::fill_n(at, starts.size(), 0);
  for (int64_t e = 0; e < E; ++e) ++at[group(e) + 1];
  for (int64_t g = 0; g < keys * blocks; ++g) at[g + 1] += at[g];
  std::vector<int32_t> next(at, at + keys * blocks);
  bool                 in_order = true;
  for (int64_t e = 0; e < E; ++e) {
    const int32_t i = next[static_cast<size_t>(group(e))]++;
    place[i]        = static_cast<int32_t>(e);
    in_order        = in_order && i == e;
  }
  return {starts, in_order ? Array({DType::I32, {0}}) : order};
}

namespace {

// A sparsity pattern that is known at compile time.
struct Pattern {
  Array from, to;
  Shape lengths;  // of the vectors at both ends

  int64_t entries() const { return from.size(); }
  // Number of target blocks for threads: each has enough work, and most contain entries of every source.
  int64_t blocks(const Target& t) const {
    const int64_t shared = entries() / t.shared_elements, apart = entries() / lengths[0] / t.event_run;
    return std::clamp<int64_t>(std::min({shared, apart, lengths[1]}), 1, t.event_blocks);
  }
};

Tensor listed(const Tensor& x, bool with_positions = true) {
  return apply1(event_list_op, {x}, {{positions, with_positions}});
}

Tensor written(Builder& to, const Array& a) { return to.emit(constant_op, {}, {{keys::array, a}}, {a.type()})[0]; }

class Events {
 public:
  Events(Builder& to, const Program& p, const Target& target) : to_(to), p_(p), target_(target) {}

  Tensors product(const Tensors& in, const Attrs& attrs) const {
    const auto p = pattern(in[1], in[2], in[3].shape().back(), attrs[keys::size]);
    if (!p || !is_wide(in[0])) return {};
    const Grouping by_source = grouped(p->from, p->lengths[0], p->to, p->lengths[1], p->blocks(target_));
    const Grouping by_target = grouped(p->to, p->lengths[1], p->from, p->lengths[0], 1);
    const Array targets = by_source.order.size() ? take(p->to, by_source.order).array() : p->to;  // in traversal order
    const Array ends    = by_target.order.size() ? Array({DType::I32, {0}}) : by_target.starts;
    return {apply1(event_dot_op,
                   {in[0], in[1], in[2], in[3], written(to_, by_source.starts), written(to_, by_source.order),
                    written(to_, targets), written(to_, ends), listed(in[3])},
                   attrs)};
  }

  // w ± u[from] v[to], or w ± Σ_b u[b, from] v[b, to]
  Tensors update(const Tensor& w, const Tensor& change, bool plus) const {
    const auto in_row = made_by(mul_op, change), in_rows = made_by(product_sum_op, change);
    const auto m = in_row ? in_row : in_rows;
    if (!m || (in_rows && m->attrs[keys::axes] != Ints{0}) || w.rank() != 1 || w.size() < target_.separated_from ||
        !is_wide(w))
      return {};
    const auto a = gathered(m->in[0]), b = gathered(m->in[1]);
    const int  rank = in_row ? 1 : 2;
    if (!a || !b || a->in[0].rank() != rank || b->in[0].rank() != rank) return {};
    const Made &  source = is_source(b->in[1]) ? *b : *a, &target = &source == &*a ? *b : *a;
    const Tensor &u = source.in[0], &v = target.in[0];
    const auto    p = pattern(source.in[1], target.in[1], u.shape().back(), v.shape().back());
    if (!p) return {};
    // Traces of sources decay slowly and are rarely zero, so traversal by source pays off only if entries are sorted by
    // it.
    const Grouping by_u    = grouped(p->from, p->lengths[0], p->to, p->lengths[1], 1);
    const Grouping by_v    = grouped(p->to, p->lengths[1], p->from, p->lengths[0], 1);
    const bool     along_u = in_row && by_u.order.size() == 0;
    if (in_rows && by_v.order.size()) return {};
    return {apply1(event_update_op,
                   {w, u, v, source.in[1], target.in[1], written(to_, along_u ? by_u.starts : Array({DType::I32, {0}})),
                    written(to_, by_v.starts), written(to_, by_v.order), listed(u, along_u),
                    in_row ? listed(v) : apply1(event_rows_op, {v})},
                   {{adds, plus}})};
  }

 private:
  // A gather along the last axis.
  static std::optional<Made> gathered(const Tensor& t) {
    auto m = made_by(take_op, t);
    if (m && (m->attrs[keys::axis] != m->in[0].rank() - 1 || m->attrs[keys::batch] != 0)) m.reset();
    return m;
  }
  static bool is_wide(const Tensor& t) { return t.dtype() == DType::F32 || t.dtype() == DType::F64; }

  // Whether a product of the program uses this index for its sources.
  bool is_source(const Tensor& index) const {
    const auto known = made_by(constant_op, index);
    return known && std::any_of(p_.eqns.begin(), p_.eqns.end(), [&](const Eqn& e) {
             const Array* from = e.op == &sparse_dot_op ? known_value(p_, e.in[From]) : nullptr;
             return from && from->raw() == known->attrs[keys::array].raw();
           });
  }

  std::optional<Pattern> pattern(const Tensor& from, const Tensor& to, int64_t n, int64_t m) const {
    const auto f = made_by(constant_op, from), t = made_by(constant_op, to);
    if (!f || !t || from.rank() != 1 || to.rank() != 1 || n == 0 || m == 0) return {};
    Pattern    p{f->attrs[keys::array], t->attrs[keys::array], {n, m}};
    const bool fits = p.entries() >= target_.separated_from && p.entries() <= std::numeric_limits<int32_t>::max() &&
                      n * target_.event_blocks <= std::numeric_limits<int32_t>::max();
    return fits && is_below(p.from, n) && is_below(p.to, m) ? std::optional(std::move(p)) : std::nullopt;
  }

  Builder&       to_;
  const Program& p_;
  const Target&  target_;
};

}  // namespace

Program with_events(const Program& program, const Target& target) {
  if (!target.has_host) return program;  // small machines have no memory for a second order of the entries
  return rewritten(program, [&](const Rewriting& r) -> Tensors {
    const Events events(r.to, r.p, target);
    if (r.e.op == &sparse_dot_op) return events.product(r.in, r.e.attrs);
    if (r.e.op == &sub_op || r.e.op == &add_op) return events.update(r.in[0], r.in[1], r.e.op == &add_op);
    return {};
  });
}

}  // namespace braintrace::codegen
