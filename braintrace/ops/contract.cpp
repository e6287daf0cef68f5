// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/contract.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::lhs_batch;
using keys::lhs_contract;
using keys::rhs_batch;
using keys::rhs_contract;

DotAxes axes_of(const Attrs& a) { return {a[lhs_contract], a[rhs_contract], a[lhs_batch], a[rhs_batch]}; }
Attrs   attrs_of(const DotAxes& d) {
    return {{lhs_batch, d.lhs_batch},
            {lhs_contract, d.lhs_contract},
            {rhs_batch, d.rhs_batch},
            {rhs_contract, d.rhs_contract}};
}

Types dot_infer(const Op& op, const Types& in, const Attrs& attrs) {
  const DotAxes d = axes_of(attrs);
  const Type &  l = in[0], &r = in[1];
  require(l.dtype == r.dtype, ErrorKind::DType, "{}: element types differ: {} and {}.", op.name, to_string(l),
          to_string(r));
  require(d.lhs_contract.size() == d.rhs_contract.size() && d.lhs_batch.size() == d.rhs_batch.size(),
          "{}: contract and batch axes must come in pairs.", op.name);
  auto distinct = [&](const Ints& axes, int rank) {
    for (int64_t i : axes) require_axis(op, i, rank);
    normalize_axes(axes, rank, op.name.data());
  };
  distinct(joined(d.lhs_batch, d.lhs_contract), l.rank());
  distinct(joined(d.rhs_batch, d.rhs_contract), r.rank());
  auto pair_up = [&](const Ints& a, const Ints& b, const char* how) {
    for (size_t i = 0; i < a.size(); ++i)
      require(l.shape[a[i]] == r.shape[b[i]], ErrorKind::Shape,
              "{}: lhs {} axis {} of {} with size {}, but rhs axis {} of {} has size {}.\n"
              "  Transpose one operand, or check the sizes of the layer.",
              op.name, how, a[i], to_string(l), l.shape[a[i]], b[i], to_string(r), r.shape[b[i]]);
  };
  pair_up(d.lhs_contract, d.rhs_contract, "contracts");
  pair_up(d.lhs_batch, d.rhs_batch, "batches");
  Type out{l.dtype, {}};
  for (int64_t i : d.lhs_batch) out.shape.push_back(l.shape[i]);
  for (int64_t i : others(l.rank(), d.lhs_batch, d.lhs_contract)) out.shape.push_back(l.shape[i]);
  for (int64_t i : others(r.rank(), d.rhs_batch, d.rhs_contract)) out.shape.push_back(r.shape[i]);
  return {out};
}

// Offset of each index over `axes`, row major.
Ints offsets(const Shape& shape, const Ints& axes) {
  const Ints strides = strides_of(shape);
  Shape      sizes;
  for (int64_t a : axes) sizes.push_back(shape[a]);
  Ints out;
  out.reserve(static_cast<size_t>(size_of(sizes)));
  for (IndexWalk i(sizes); !i.done(); i.next()) {
    int64_t at = 0;
    for (size_t k = 0; k < axes.size(); ++k) at += i.index()[k] * strides[axes[k]];
    out.push_back(at);
  }
  return out;
}

// c[b,m,n] = Σ_k l[b,m,k] r[b,k,n]; r is brought into rows of n (or of k when n is small) so that inner loops are
// dense.
template <class Value, class View>
std::vector<Value> contract(const Array& lhs, const Array& rhs, const DotAxes& d) {
  const Ints lb = offsets(lhs.shape(), d.lhs_batch), rb = offsets(rhs.shape(), d.rhs_batch);
  const Ints lk = offsets(lhs.shape(), d.lhs_contract), rk = offsets(rhs.shape(), d.rhs_contract);
  const Ints lm = offsets(lhs.shape(), others(lhs.type().rank(), d.lhs_batch, d.lhs_contract));
  const Ints rn = offsets(rhs.shape(), others(rhs.type().rank(), d.rhs_batch, d.rhs_contract));
  const View l(lhs), r(rhs);

  const size_t       M = lm.size(), N = rn.size(), K = lk.size();
  const bool         narrow = N < 8;
  std::vector<Value> out(lb.size() * M * N, Value{}), left(K), right(K * N);
  for (size_t b = 0; b < lb.size(); ++b) {
    for (size_t k = 0; k < K; ++k)
      for (size_t n = 0; n < N; ++n)
        right[narrow ? n * K + k : k * N + n] = static_cast<Value>(r[rb[b] + rn[n] + rk[k]]);
    for (size_t m = 0; m < M; ++m) {
      for (size_t k = 0; k < K; ++k) left[k] = static_cast<Value>(l[lb[b] + lm[m] + lk[k]]);
      Value* row = out.data() + (b * M + m) * N;
      if (narrow) {
        for (size_t n = 0; n < N; ++n)
          row[n] = std::inner_product(left.begin(), left.end(), right.data() + n * K, Value{});
      } else {
        for (size_t k = 0; k < K; ++k)
          for (size_t n = 0; n < N; ++n) row[n] += left[k] * right[k * N + n];
      }
    }
  }
  return out;
}

// Cotangent of one operand: ct contracted with the other operand over its free axes, axes put back in place.
Tensor dot_operand_ct(const Tensor& ct, const Tensor& other, const Type& type, const Ints& batch, const Ints& contract,
                      const Ints& other_batch, const Ints& other_contract, bool operand_is_lhs) {
  const int64_t nb         = static_cast<int64_t>(batch.size());
  const Ints    mine       = others(type.rank(), batch, contract);
  const Ints    other_free = others(other.rank(), other_batch, other_contract);
  // Axes of ct: batch, lhs free, rhs free.
  const Ints ct_batch = counted(0, nb);
  const Ints ct_other =
      counted(operand_is_lhs ? nb + static_cast<int64_t>(mine.size()) : nb, static_cast<int64_t>(other_free.size()));
  const Tensor y = dot_general(ct, other, {ct_other, other_free, ct_batch, other_batch});
  // Axes of y: batch, my free axes, the other operand's contract axes in increasing order.
  Ints order = counted(0, static_cast<int64_t>(other_contract.size()));
  std::sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return other_contract[p] < other_contract[q]; });
  Ints target = joined(batch, mine);  // axis of the operand held by axis i of y
  for (int64_t p : order) target.push_back(contract[p]);
  const Ints perm = inverse(target);
  return std::is_sorted(perm.begin(), perm.end()) ? y : transpose(y, perm);
}

Tensors dot_transpose(const TransposeArgs& a) {
  const DotAxes d = axes_of(a.attrs);
  if (a.linear[0])
    return {
        dot_operand_ct(a.ct[0], a.in[1], a.types[0], d.lhs_batch, d.lhs_contract, d.rhs_batch, d.rhs_contract, true),
        {}};
  return {
      {},
      dot_operand_ct(a.ct[0], a.in[0], a.types[1], d.rhs_batch, d.rhs_contract, d.lhs_batch, d.lhs_contract, false)};
}

Tensors dot_batch(const BatchArgs& a) {
  DotAxes       d  = axes_of(a.attrs);
  const int64_t nb = static_cast<int64_t>(d.lhs_batch.size());
  if (a.batched[0]) d.lhs_contract = shifted(d.lhs_contract), d.lhs_batch = shifted(d.lhs_batch);
  if (a.batched[1]) d.rhs_contract = shifted(d.rhs_contract), d.rhs_batch = shifted(d.rhs_batch);
  if (a.batched[0] && a.batched[1]) {
    d.lhs_batch.insert(d.lhs_batch.begin(), 0);
    d.rhs_batch.insert(d.rhs_batch.begin(), 0);
    return {dot_general(a.in[0], a.in[1], d)};
  }
  const int64_t lhs_free = a.in[0].rank() - nb - static_cast<int64_t>(d.lhs_contract.size());
  return {move_axis(dot_general(a.in[0], a.in[1], d), a.batched[0] ? nb : nb + lhs_free, 0)};
}

AxisLinks dot_depend(const DependArgs& a) {
  const DotAxes d     = axes_of(a.attrs);
  const Ints&   batch = a.operand == 0 ? d.lhs_batch : d.rhs_batch;
  const Ints&   gone  = a.operand == 0 ? d.lhs_contract : d.rhs_contract;
  const Ints    free  = others(a.in[a.operand].rank(), batch, gone);
  AxisLinks     links;
  for (size_t i = 0; i < batch.size(); ++i) links.push_back(axis_link(batch[i], static_cast<int64_t>(i)));
  const int64_t first =
      a.operand == 0 ? static_cast<int64_t>(batch.size()) : a.out[0].rank() - static_cast<int64_t>(free.size());
  for (size_t i = 0; i < free.size(); ++i) links.push_back(axis_link(free[i], first + static_cast<int64_t>(i)));
  return links;
}

}  // namespace

// y = lhs · rhs over the contracted axes
constinit const Op dot_general_op = {
    .name     = "dot_general",
    .doc      = "product summed over paired axes, position by position over batch axes",
    .operands = "lhs rhs",
    .function = "dot",
    .infer    = dot_infer,
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      if (is_float(out[0].dtype)) return {from_doubles(out[0], contract<double, Doubles>(in[0], in[1], axes_of(a)))};
      const auto y = contract<uint64_t, Integers>(in[0], in[1], axes_of(a));  // wraps
      return {from_integers(out[0], std::vector<int64_t>(y.begin(), y.end()))};
    },
    .linearity = Linearity::Each,
    .transpose = dot_transpose,
    .batch     = dot_batch,
    .depend    = dot_depend,
    .sample    = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto x = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{x({2, 3}), x({3, 4})}, attrs_of({{1}, {0}, {}, {}})},
              {{x({2, 3, 4, 5}), x({5, 2, 6, 3})}, attrs_of({{3, 1}, {0, 3}, {0}, {1}})}};
    },
};

Tensor dot_general(const Tensor& lhs, const Tensor& rhs, const DotAxes& axes) {
  const Tensors in = promote_together({lhs, rhs});
  return apply1(dot_general_op, in, attrs_of(axes));
}

Tensor dot(const Tensor& x, const Tensor& w) {
  require(x.rank() >= 1 && w.rank() >= 1, ErrorKind::Shape, "dot: operands need at least one axis, got {} and {}.",
          to_string(x.type()), to_string(w.type()));
  return dot_general(x, w, {{x.rank() - 1}, {std::max(w.rank() - 2, 0)}, {}, {}});
}

const std::vector<const Op*>& contract_ops() {
  static const std::vector<const Op*> ops = {&dot_general_op};
  return ops;
}

}  // namespace braintrace
