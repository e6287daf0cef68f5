// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/lower.h"

#include "braintrace/ops/axes.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
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
      return {sum(Tensor(in[0]) * Tensor(in[1]), a[axes_key]).array()};
    },
};

namespace {

constexpr Key<Ints> lhs_contract{"lhs_contract"}, rhs_contract{"rhs_contract"}, lhs_batch{"lhs_batch"},
    rhs_batch{"rhs_batch"};
constexpr Key<ProgramPtr> body_key{"body"};

int64_t product_of(const Shape& shape, const Ints& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= shape[a];
  return n;
}

Ints others(int rank, const Ints& a, const Ints& b) {
  Ints out;
  for (int i = 0; i < rank; ++i)
    if (!contains(a, i) && !contains(b, i)) out.push_back(i);
  return out;
}

// `t`, whose axis i is axis dims[i] of `shape`, repeated along the other axes.
Tensor placed(Tensor t, const Shape& shape, Ints dims) {
  Ints order = counted(0, static_cast<int64_t>(dims.size()));
  std::sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return dims[p] < dims[q]; });
  if (!std::is_sorted(order.begin(), order.end())) t = transpose(t, order);
  std::sort(dims.begin(), dims.end());
  return t.shape() == shape ? t : broadcast_axes(t, shape, dims);
}

// Without free axes on one side the product is a weighted sum over axes of the other; without contracted axes it is an
// outer product. In both cases nothing is gained by a matrix product, and much by fusing.
Tensor as_sum(const Tensor& l, const Tensor& r, const Attrs& a) {
  const Ints &lk = a[lhs_contract], &rk = a[rhs_contract], &lb = a[lhs_batch], &rb = a[rhs_batch];
  const Ints  lf = others(l.rank(), lb, lk), rf = others(r.rank(), rb, rk);
  const auto  M = product_of(l.shape(), lf), N = product_of(r.shape(), rf), K = product_of(l.shape(), lk);
  if (M != 1 && N != 1 && K != 1) return {};
  // The axes of the larger operand, then the free axes of the smaller one.
  const bool    left = N <= M;  // the left operand leads
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
  const Tensor sum = K == 1
                         ? reshape(x * y, infer(product_sum_op, {x.type(), y.type()}, {{axes_key, reduced}})[0].shape)
                         : apply1(product_sum_op, {x, y}, {{axes_key, reduced}});
  // Axes of the result as the product has them: batch, free axes of l, free axes of r.
  Ints kept = others(static_cast<int>(space.size()), reduced, {}), wanted = bb;
  Ints small_free;
  for (int64_t f : sf) small_free.push_back(dims[f]);
  for (int64_t f : left ? bf : small_free) wanted.push_back(f);
  for (int64_t f : left ? small_free : bf) wanted.push_back(f);
  Ints perm;
  for (int64_t w : wanted) perm.push_back(std::find(kept.begin(), kept.end(), w) - kept.begin());
  return std::is_sorted(perm.begin(), perm.end()) ? sum : transpose(sum, perm);
}

Attrs nested_lowered(const Attrs& attrs) {
  Attrs out = attrs;
  for (const Attr& a : attrs) {
    if (const auto* one = std::get_if<ProgramPtr>(&a.value))
      out.set(Attr(a.name, std::make_shared<const Program>(lowered(**one))));
    if (const auto* many = std::get_if<ProgramPtrs>(&a.value)) {
      ProgramPtrs list;
      for (const ProgramPtr& p : *many) list.push_back(std::make_shared<const Program>(lowered(*p)));
      out.set(Attr(a.name, std::move(list)));
    }
  }
  return out;
}

Tensors emit_lowered(Builder& to, const Program& p, const Tensors& in) {
  Tensors values(p.types.size());
  bind_inputs(p, in, values);
  for (const Eqn& e : p.eqns) {
    EqnNote       note(p, e);
    const Tensors x = gather(values, e.in);
    if (e.op->name == "custom_jvp" || e.op->name == "custom_vjp") {
      scatter(values, e.out, emit_lowered(to, expand_composites(*e.attrs[body_key]), x));
      continue;
    }
    if (e.op == &dot_general_op) {
      if (const Tensor sum = as_sum(x[0], x[1], e.attrs); sum.defined()) {
        values[e.out[0]] = sum;
        continue;
      }
    }
    scatter(values, e.out, to.emit(*e.op, x, nested_lowered(e.attrs), p.types_of(e.out)));
  }
  return gather(values, p.results);
}

}  // namespace

Program lowered(const Program& program) {
  const Program expanded = simplify(expand_composites(program));
  auto          builder  = Builder::open();
  Tensors       in;
  for (Var v : program_inputs(expanded)) in.push_back(builder->argument(expanded.type(v)));
  Program    p = with_constants_inside(builder->finish(emit_lowered(*builder, expanded, in)));
  const auto n = static_cast<int64_t>(expanded.constants.size());
  p.constants.assign(p.args.begin(), p.args.begin() + n);
  p.args.erase(p.args.begin(), p.args.begin() + n);
  return simplify(p);
}

}  // namespace braintrace::codegen
