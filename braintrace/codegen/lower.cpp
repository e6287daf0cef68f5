// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/lower.h"

#include "braintrace/codegen/factor.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/lower_scan.h"
#include "braintrace/codegen/patches.h"
#include "braintrace/codegen/rewrite.h"
#include "braintrace/codegen/separate.h"
#include "braintrace/codegen/view.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/conv.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sparse.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

constinit const Op product_sum_op = {
    .name     = "product_sum",
    .doc      = "sum over axes of a product",
    .operands = "lhs rhs",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types { return reduced_infer(op, {in[0]}, a); },
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      return {sum(Tensor(in[0]) * Tensor(in[1]), a[keys::axes]).array()};
    },
    .fold = Fold::Sum,
};

constinit const Op part_sums_op = {
    .name     = "part_sums",
    .doc      = "sums over parts of the first axis of a product",
    .operands = "lhs rhs",
    .infer    = [](const Op&, const Types& in, const Attrs& a) -> Types {
      Type out     = in[0];
      out.shape[0] = a[parts];
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      const Tensor  product = Tensor(in[0]) * Tensor(in[1]);
      const int64_t rows = product.shape()[0], part = parts_in(rows, a[parts]);
      Tensors       sums;
      for (int64_t i = 0; i < a[parts]; ++i)
        sums.push_back(sum(slice_axis(product, 0, std::min(i * part, rows), std::min((i + 1) * part, rows)), Ints{0}));
      return {stack(sums, 0).array()};
    },
    .fold = Fold::Sum,
};

// a · b + c with one rounding, as in matrix products.
constinit const Op multiply_add_op = elementwise({
    .name     = "multiply_add",
    .doc      = "a · b + c, rounded once",
    .operands = "a b c",
    .code     = {"bt_fma$f($a, $b, $c)", ""},
    .scalar   = {.real = [](const double* x) { return x[0] * x[1] + x[2]; }},
});

namespace {

using keys::lhs_batch;
using keys::lhs_contract;
using keys::rhs_batch;
using keys::rhs_contract;

// Broadcasts `t` to `shape`; axis i of `t` is axis dims[i] of `shape`.
Tensor placed(Tensor t, const Shape& shape, Ints dims) {
  Ints order = counted(0, static_cast<int64_t>(dims.size()));
  std::sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return dims[p] < dims[q]; });
  if (!std::is_sorted(order.begin(), order.end())) t = transpose(t, order);
  std::sort(dims.begin(), dims.end());
  return t.shape() == shape ? t : broadcast_axes(t, shape, dims);
}

// Unrolls sums of few terms, so that they fuse with elementwise equations.
Tensor product_sum(const Tensor& x, const Tensor& y, const Ints& axes, const Target& t) {
  const Attrs   a     = {{keys::axes, axes}};
  const Shape   shape = infer(product_sum_op, {x.type(), y.type()}, a)[0].shape;
  const int64_t terms = size_along(x.shape(), axes);
  if (terms == 1) return reshape(x * y, shape);
  const Shape after(x.shape().begin() + axes.back(), x.shape().end());
  if (terms > t.few_terms || axes.size() > 1 || size_of(after) > terms * t.few_terms)
    return apply1(product_sum_op, {x, y}, a);
  Tensor     sum;
  const auto at = [&](const Tensor& from, int64_t k) { return slice_axis(from, axes[0], k, k + 1); };
  for (int64_t k = 0; k < terms; ++k) sum = add_defined(sum, reshape(at(x, k) * at(y, k), shape));
  return sum;
}

// Without free axes on one side, the product is a weighted sum over axes of the other; without contracted axes, it is
// an outer product. A matrix product gains nothing in these cases, but fusion does. The same holds for batches of small
// matrices, such as the Jacobian of each neuron's states: few sums of few terms.
Tensor as_sum(const Tensor& l, const Tensor& r, const Attrs& a, const Target& t) {
  const Ints &lk = a[lhs_contract], &rk = a[rhs_contract], &lb = a[lhs_batch], &rb = a[rhs_batch];
  const Ints  lf = others(l.rank(), lb, lk), rf = others(r.rank(), rb, rk);
  const auto  M = size_along(l.shape(), lf), N = size_along(r.shape(), rf), K = size_along(l.shape(), lk);
  const bool  few =
      size_along(l.shape(), lb) > 1 && lk.size() == 1 && K > 1 && K <= t.few_terms && std::min(M, N) <= t.few_terms;
  if (M != 1 && N != 1 && K != 1 && !few) return {};
  // The axes of the larger operand, then the free axes of the smaller one.
  const bool    left = few ? l.size() >= r.size() : K == 1 || N <= M;  // the left operand is the larger one
  const Tensor &big = left ? l : r, &small = left ? r : l;
  const Ints &  bb = left ? lb : rb, &bk = left ? lk : rk, &bf = left ? lf : rf;
  const Ints &  sb = left ? rb : lb, &sk = left ? rk : lk, &sf = left ? rf : lf;
  Shape         space = big.shape();
  Ints          dims(static_cast<size_t>(small.rank()));
  for (size_t i = 0; i < sb.size(); ++i) dims[sb[i]] = bb[i];
  for (size_t i = 0; i < sk.size(); ++i) dims[sk[i]] = bk[i];
  for (int64_t f : sf) {
    dims[f] = static_cast<int64_t>(space.size());
    space.push_back(small.shape()[f]);
  }
  const Tensor x = placed(big, space, counted(0, big.rank())), y = placed(small, space, dims);
  Ints         reduced = bk;
  std::sort(reduced.begin(), reduced.end());
  const Tensor sum = product_sum(x, y, reduced, t);
  // Permute to the axis order of the product: batch, free axes of l, free axes of r.
  const Ints kept = others(static_cast<int>(space.size()), reduced, {}), small_free = gather(dims, sf);
  const Ints wanted = left ? joined(bb, bf, small_free) : joined(bb, small_free, bf);
  Ints       perm;
  for (int64_t w : wanted) perm.push_back(static_cast<int64_t>(index_of(kept, w)));
  return std::is_sorted(perm.begin(), perm.end()) ? sum : transpose(sum, perm);
}

// A large matrix product with few terms is a sum of outer products, which fuses with what reads it: the gradient of a
// weight from a batch of two, with the update. It has the bits of the matrix product.
Tensor as_terms(const Tensor& l, const Tensor& r, const Attrs& a, const Target& target) {
  const Ints&   lk    = a[lhs_contract];
  const int64_t terms = size_along(l.shape(), lk);
  const bool    fits  = target.in_turn && (l.dtype() == DType::F32 || l.dtype() == DType::F64);
  if (!fits || !a[lhs_batch].empty() || lk.size() != 1 || terms == 0 || terms > target.few_terms) return {};
  const int64_t lk0 = lk[0], rk0 = a[rhs_contract][0];
  const Ints    lf = others(l.rank(), lk, {}), rf = others(r.rank(), {rk0}, {});
  const Shape   shape = joined(gather(l.shape(), lf), gather(r.shape(), rf));
  if (size_of(shape) < target.separated_from) return {};
  const auto left = static_cast<int64_t>(lf.size()), all = static_cast<int64_t>(shape.size());
  const auto term = [&](const Tensor& x, int64_t axis, int64_t k, const Ints& dims) {
    return placed(squeeze(slice_axis(x, axis, k, k + 1), {axis}), shape, dims);
  };
  Tensor sum = zeros(shape, l.dtype());
  for (int64_t k = 0; k < terms; ++k)
    sum = apply1(multiply_add_op, {term(l, lk0, k, counted(0, left)), term(r, rk0, k, counted(left, all - left)), sum});
  return sum;
}

// A vector times a large matrix whose rows the threads split: sums over parts of the rows, then their sum.
Tensor by_parts(const Tensor& l, const Tensor& r, const Attrs& a, const Target& target) {
  const Ints &lk = a[lhs_contract], &rk = a[rhs_contract];
  if (!a[lhs_batch].empty() || lk.size() != 1) return {};
  const bool    left   = l.size() > r.size();
  const Tensor &matrix = left ? l : r, &vector = left ? r : l;
  const int64_t axis = left ? lk[0] : rk[0], rows = matrix.shape()[axis];
  const int64_t blocks  = parts_in(rows, parts_in(rows, target.row_blocks(rows, matrix.size())));  // none is empty
  const bool    by_rows = matrix.size() >= target.shared_elements && long_axes(matrix.shape())[0] == axis;
  if (!by_rows || vector.size() != rows || matrix.size() == rows || rows < blocks) return {};
  if (rows % blocks && !target.in_turn) return {};  // loops of many threads have equal parts
  const Tensor x = reshape(matrix, squeezed(matrix.shape())), y = placed(reshape(vector, {rows}), x.shape(), {0});
  const Tensor sums = apply1(part_sums_op, {x, y}, {{keys::axes, Ints{0}}, {parts, blocks}});
  Tensor       sum;
  for (int64_t i = 0; i < blocks; ++i) sum = add_defined(sum, slice_axis(sums, 0, i, i + 1));
  return reshape(sum, joined(gather(l.shape(), others(l.rank(), {}, lk)), gather(r.shape(), others(r.rank(), {}, rk))));
}

// A tensor without broadcasts and axes of size one: axis i of `t` is axis axes[i] of the original.
struct Bare {
  Tensor t;
  Ints   axes;
};
Bare bare(Tensor t) {
  Ints axes = long_axes(t.shape());  // axis of the original, per long axis of t
  while (true) {
    const Ints here = long_axes(t.shape());
    if (const auto b = made_by(broadcast_op, t)) {
      Ints kept;
      for (size_t i = 0; i < here.size(); ++i)
        if (contains(b->attrs[keys::dims], here[i])) kept.push_back(axes[i]);
      axes = kept;
      t    = b->in[0];
    } else if (const auto r = made_by(reshape_op, t); r && squeezed(r->in[0].shape()) == squeezed(t.shape())) {
      t = r->in[0];
    } else {
      return {reshape(t, squeezed(t.shape())), axes};
    }
  }
}

// Σ a·b over axes as a matrix product, if a and b are broadcast along axes of each other; otherwise undefined.
Tensor as_product(const Tensor& x, const Ints& axes, const Type& out) {
  const auto product = made_by(mul_op, x);
  if (!product || !is_float(x.dtype())) return {};
  const Bare a = bare(product->in[0]), b = bare(product->in[1]);
  DotAxes    d;
  Ints       order, only_a, only_b;  // axes of x, in the order of the product
  for (int64_t axis : long_axes(x.shape())) {
    const bool in_a = contains(a.axes, axis), in_b = contains(b.axes, axis);
    const auto i = static_cast<int64_t>(index_of(a.axes, axis)), j = static_cast<int64_t>(index_of(b.axes, axis));
    if (contains(axes, axis)) {
      if (!in_a || !in_b) return {};
      d.lhs_contract.push_back(i);
      d.rhs_contract.push_back(j);
    } else if (in_a && in_b) {
      d.lhs_batch.push_back(i);
      d.rhs_batch.push_back(j);
      order.push_back(axis);
    } else if (in_a || in_b) {
      (in_a ? only_a : only_b).push_back(axis);
    } else {
      return {};
    }
  }
  if (only_a.empty() || only_b.empty() || d.lhs_contract.empty()) return {};
  order       = joined(order, only_a, only_b);
  Ints sorted = order, perm;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t s : sorted) perm.push_back(static_cast<int64_t>(index_of(order, s)));
  return reshape(transpose(dot_general(a.t, b.t, d), perm), out.shape);
}

// The free axes of both operands of a product without batch axes, in the order of the result.
struct FreeAxes {
  Ints lhs, rhs;
  explicit FreeAxes(const Made& dot)
      : lhs(others(dot.in[0].rank(), dot.attrs[lhs_batch], dot.attrs[lhs_contract])),
        rhs(others(dot.in[1].rank(), dot.attrs[rhs_batch], dot.attrs[rhs_contract])) {}
};

// (a b)ᵀ = bᵀ aᵀ: swaps the operands instead of transposing the result.
Tensor transposed_product(const Tensor& y, const Ints& perm) {
  const auto dot = made_by(dot_general_op, y);
  if (!dot || !dot->attrs[lhs_batch].empty()) return {};
  const FreeAxes free(*dot);
  const auto     m = static_cast<int64_t>(free.lhs.size()), n = static_cast<int64_t>(free.rhs.size());
  if (perm != joined(counted(m, n), counted(0, m))) return {};
  return dot_general(dot->in[1], dot->in[0], {dot->attrs[rhs_contract], dot->attrs[lhs_contract], {}, {}});
}

// Pushes a slice into a product or a sum.
Tensor sliced_product(const Tensor& y, const Attrs& a) {
  if (const auto sum = made_by(add_op, y)) {
    const Tensor l = sliced_product(sum->in[0], a);
    const Tensor r = l.defined() ? sliced_product(sum->in[1], a) : Tensor();
    return r.defined() ? l + r : Tensor();
  }
  const auto dot = made_by(dot_general_op, y);
  if (!dot || !dot->attrs[lhs_batch].empty()) return {};
  const FreeAxes free(*dot);
  Tensors        in   = dot->in;
  size_t         axis = 0;  // of y
  for (const auto& [operand, axes] : {std::pair{0, free.lhs}, std::pair{1, free.rhs}})
    for (int64_t k : axes) {
      in[operand] = slice_axis(in[operand], k, a[keys::start][axis], a[keys::limit][axis], a[keys::stride][axis]);
      ++axis;
    }
  return dot_general(in[0], in[1], {dot->attrs[lhs_contract], dot->attrs[rhs_contract], {}, {}});
}

Tensors emit_products(const Rewriting& r, const Target& target) {
  const Attrs& a = r.e.attrs;
  Tensor       y;
  if (r.e.op == &conv_op && target.packed_bytes > 0) y = as_patch_product(r.in[0], r.in[1], a);
  if (r.e.op == &transpose_op) {
    y = transposed_product(r.in[0], a[keys::perm]);
    if (!y.defined()) y = turned(r.in[0], a[keys::perm]);
  }
  if (r.e.op == &slice_op) y = sliced_product(r.in[0], a);
  if (r.e.op == &reduce_sum_op) {
    const Type& out = r.p.type(r.e.out[0]);
    y               = size_along(r.in[0].shape(), a[keys::axes]) == 1 ? reshape(r.in[0], out.shape)
                                                                      : as_product(r.in[0], a[keys::axes], out);
  }
  return y.defined() ? Tensors{y} : Tensors();
}

Tensors emit_hoisted(const Rewriting& r, const Options& options) {
  const Eqn& e = r.e;
  if (e.op == &custom_jvp_op || e.op == &custom_vjp_op)
    return rewrite(r.to, with_passes({"expand"}, *e.attrs[keys::body], options), r.in,
                   [&](const Rewriting& inner) { return emit_hoisted(inner, options); });
  if (e.op == &scan_op && e.attrs[keys::length] > 0) return lowered_scan(e, r.in, gather(r.is_used, e.out), options);
  return {};
}

// The factors of a product, through reshapes that add or remove axes of size one; empty for anything else.
Tensors factors(const Tensor& t) {
  if (const auto product = made_by(mul_op, t)) return product->in;
  const auto view = made_by(reshape_op, t);
  if (!view || squeezed(view->in[0].shape()) != squeezed(t.shape())) return {};
  Tensors in = factors(view->in[0]);
  for (Tensor& x : in) x = reshape(x, t.shape());
  return in;
}

// Σ_… a[…, from[e]] c[…, to[e]]
Tensor sampled_sum(const Tensors& in, const Target& target) {
  const Tensor a = take(in[2], in[0], -1), c = take(in[3], in[1], -1);
  return a.rank() == 1 ? a * c : product_sum(a, c, counted(0, a.rank() - 1), target);
}

// For a sum over axes that are not adjacent, the last of them short, such as over all positions and a group of
// channels: the short axis. It is reduced last, so that the others are accumulated in whole contiguous rows.
Ints short_axes(const Shape& shape, const Ints& axes, const Target& target) {
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t    at   = rank;
  while (at > 0 && contains(axes, at - 1)) --at;
  const Ints    last  = counted(at, rank - at);
  const int64_t terms = size_along(shape, last), all = size_along(shape, axes);
  return at < rank && terms < target.lanes && all >= target.lanes * terms ? last : Ints();
}
// Reduces x, or x times y.
Tensor summed(const Tensor& x, const Tensor& y, const Ints& axes, const Target& target) {
  const Ints last = short_axes(x.shape(), axes, target);
  Ints       first;
  for (int64_t a : axes)
    if (!contains(last, a)) first.push_back(a);
  if (last.empty() || first.empty()) return y.defined() ? product_sum(x, y, axes, target) : Tensor();
  const Tensor rows = y.defined() ? product_sum(x, y, first, target) : sum(x, first);
  return sum(rows, counted(rows.rank() - static_cast<int64_t>(last.size()), static_cast<int64_t>(last.size())));
}

Tensors emit_sums(const Rewriting& r, const Target& target) {
  if (r.e.op == &dot_general_op)
    for (const auto as : {by_parts, as_sum, as_terms})
      if (const Tensor sum = as(r.in[0], r.in[1], r.e.attrs, target); sum.defined()) return {sum};
  if (r.e.op == &sparse_sample_op && (r.in[2].dtype() == DType::F32 || r.in[2].dtype() == DType::F64) &&
      is_known_below(r.p, r.e.in[0], r.in[2].shape().back()) && is_known_below(r.p, r.e.in[1], r.in[3].shape().back()))
    return {sampled_sum(r.in, target)};
  if (r.e.op == &reduce_sum_op && is_float(r.in[0].dtype())) {
    const Tensors product = factors(r.in[0]);
    const Tensor  y       = product.empty() ? summed(r.in[0], {}, r.e.attrs[keys::axes], target)
                                            : summed(product[0], product[1], r.e.attrs[keys::axes], target);
    if (y.defined()) return {y};
  }
  return {};
}

}  // namespace

Program as_products(const Program& program, const Target& target) {
  return rewritten(program, [&](const Rewriting& r) { return emit_products(r, target); });
}

Program hoisted(const Program& program, const Options& options) {
  return rewritten(program, [&](const Rewriting& r) { return emit_hoisted(r, options); });
}

Program as_sums(const Program& program, const Target& target) {
  return rewritten(program, [&](const Rewriting& r) { return emit_sums(r, target); });
}

Program with_outer_products(const Program& program, const Options& options) {
  const auto emit = [&](const Rewriting& r) -> Tensors {
    if (r.e.op != &dot_general_op || size_along(r.in[0].shape(), r.e.attrs[lhs_contract]) != 1) return {};
    return {as_sum(r.in[0], r.in[1], r.e.attrs, options.target)};
  };
  const Program p = with_passes({"expand", "products", "factor"}, program, options);
  return with_passes({"separate"}, rewritten(p, emit), options);
}

}  // namespace braintrace::codegen
