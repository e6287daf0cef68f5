// SPDX-License-Identifier: Apache-2.0
// y[col e] += x[row e] w_e (+ b)     x : [(B),I]   w : [E]   b : [O]   y : [(B),O]   D_f : [(B),O,S]
//
//   ε_w : [(B),E,S]   ∂y[col e]/∂w_e = x[row e]           ε_b : [(B),O,S]   1
#include "braintrace/etp/sparse.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

constexpr Key<Array>   rows_key{"rows"}, cols_key{"cols"};
constexpr Key<int64_t> n_cols_key{"n_cols"};

Types sparse_infer(const Op& op, const Types& in, const Attrs& a) {
  const Type &  x = in[0], &w = in[1];
  const int64_t E = a[rows_key].size();
  require(x.rank() == 1 || x.rank() == 2, ErrorKind::Shape,
          "sparse_matmul: x has rank {}, expected [I] or [B,I], got {}; fold leading axes into one.", x.rank(),
          to_string(x));
  require(w.rank() == 1 && w.shape[0] == E, ErrorKind::Shape,
          "sparse_matmul: the pattern stores {} entries, so the weight must be [{}], got {}.", E, E, to_string(w));
  require_one_dtype(op, in, 1);
  require_bias(op, in, 2, {a[n_cols_key]});
  Type y         = x;
  y.shape.back() = a[n_cols_key];
  return {y};
}

constexpr EtpRules sparse_rules = {
    .primitive   = [](const EtpCall& c) -> std::string_view { return c.y.rank() == 2 ? "etp_sp_mm" : "etp_sp_mv"; },
    .weights     = weight_and_bias,
    .coefficient = [](const EtpCall& c, int weight, const Tensors& in) -> Tensor {
      return weight == bias_weight ? Tensor(c.y, 1) : take(in[0], c.attrs[rows_key], -1);
    },
    .spread = [](const EtpCall& c, int weight, const Tensor& t) -> Tensor {
      return weight == bias_weight ? t : take(t, c.attrs[cols_key], c.y.rank() - 1);
    },
    .fold = sum_to_weight,
};

Attrs attrs_of(Array rows, Array cols, int64_t n_cols) {
  return {{cols_key, std::move(cols)}, {n_cols_key, n_cols}, {rows_key, std::move(rows)}};
}

}  // namespace

constinit const Op sparse_matmul_op = composite({
    .name     = "sparse_matmul",
    .doc      = "trainable product of x and a sparse matrix",
    .operands = "x weight bias...",
    .infer    = sparse_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const SparsePattern p{a[rows_key], a[cols_key], in[0].shape().back(), a[n_cols_key]};
      const Tensor        y = dot(in[0], p, in[1]);
      return {in.size() > 2 ? y + in[2] : y};
    },
    .batch  = [](const BatchArgs& a) -> Tensors { return batch_over_x(a, 1); },
    .depend = [](const DependArgs& a) -> AxisLinks {
      const int last = a.out[0].rank() - 1;
      AxisLinks links;
      if (a.operand == 0 && last == 1) links.push_back({0, 1, 0, 1});
      if (a.operand == 2) links.push_back({0, 1, last, last + 1});
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto       r    = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      const auto rows = Array::of<int32_t>({0, 0, 1, 2, 2}, {5}), cols = Array::of<int32_t>({1, 3, 0, 1, 3}, {5});
      return {{{r({3}), r({5})}, attrs_of(rows, cols, 4)}, {{r({2, 3}), r({5}), r({4})}, attrs_of(rows, cols, 4)}};
    },
    .etp = &sparse_rules,
});

Tensor sparse_matmul(const Tensor& x, const Tensor& weight, const SparsePattern& pattern, const Tensor& bias,
                     const WeightFns& fns) {
  require(pattern.rows.defined() && pattern.cols.defined() && !pattern.rows.is_traced() && !pattern.cols.is_traced(),
          "sparse_matmul: the pattern must be concrete; build it with csr(…) or coo(…) outside the traced step.");
  require(x.rank() >= 1 && x.shape().back() == pattern.n_rows, ErrorKind::Shape,
          "sparse_matmul: the pattern is {} by {}, so x must end in {}, got {}.", pattern.n_rows, pattern.n_cols,
          pattern.n_rows, to_string(x.type()));
  const Tensor w = transformed(weight, fns.weight_fn, "sparse_matmul", "weight_fn"),
               b = transformed(bias, fns.bias_fn, "sparse_matmul", "bias_fn");
  return apply1(sparse_matmul_op, operands(x, {w}, b),
                attrs_of(pattern.rows.array(), pattern.cols.array(), pattern.n_cols));
}

}  // namespace braintrace
