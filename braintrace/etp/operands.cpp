// SPDX-License-Identifier: Apache-2.0
#include "braintrace/etp/operands.h"

#include <algorithm>

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

Tensor transformed(const Tensor& w, const WeightFn& fn, const char* op, const char* name) {
  if (!fn || !w.defined()) return w;
  Tensor f = fn(w);
  require(f.defined() && f.shape() == w.shape(),
          "{}: {} turned {} into {}; it must keep the shape. Reshape the weight before the call instead.", op, name,
          to_string(w.type()), f.defined() ? to_string(f.type()) : "nothing");
  return f;
}

Tensors operands(const Tensor& x, const Tensors& weights, const Tensor& bias) {
  Tensors in{x};
  in.insert(in.end(), weights.begin(), weights.end());
  in = promote_together(std::move(in));
  if (bias.defined()) in.push_back(convert(bias, in[0].dtype()));
  return in;
}

void require_one_dtype(const Op& op, const Types& in, size_t weights) {
  for (size_t i = 1; i <= weights; ++i)
    require(in[0].dtype == in[i].dtype, ErrorKind::DType, "{}: x is {} and a weight is {}; convert one of them.",
            op.name, to_string(in[0]), to_string(in[i]));
}

void require_bias(const Op& op, const Types& in, size_t at, const Shape& shape) {
  if (in.size() <= at) return;
  const Type expected{in[0].dtype, shape};
  require(in[at] == expected, ErrorKind::Shape, "{}: the result has features {}, so the bias must be {}, got {}.",
          op.name, to_string(shape), to_string(expected), to_string(in[at]));
}

Tensor sum_to(const Tensor& t, const Shape& shape) {
  const int extra = t.rank() - static_cast<int>(shape.size());
  Ints      axes;
  for (int i = 0; i < t.rank(); ++i)
    if (i < extra || (shape[i - extra] == 1 && t.shape()[i] != 1)) axes.push_back(i);
  return reshape(axes.empty() ? t : sum(t, axes), shape);
}

std::vector<EtpWeight> weight_and_bias(const EtpCall& call) {
  if (call.in.size() > 2) return {{"weight", 1}, {"bias", 2}};
  return {{"weight", 1}};
}

Tensor x_of_product(const EtpCall& call, int weight, const Tensors& in) {
  return weight == bias_weight ? Tensor(call.y, 1) : expand_dims(in[0], -1);
}

Tensor spread_over_product(const EtpCall& call, int weight, const Tensor& per_y) {
  return weight == bias_weight ? per_y : expand_dims(per_y, call.y.rank() - 1);
}

Tensor sum_to_weight(const EtpCall& call, int weight, const Tensors&, const Tensor& on_trace) {
  return sum_to(on_trace, call.in[weight + 1].shape);
}

Tensor laid_out(const Tensor& t, const std::string& from, const std::string& to) {
  Ints  perm;
  Shape shape;
  for (char c : to) {
    const auto at = from.find(c);
    shape.push_back(at == std::string::npos ? 1 : t.shape()[at]);
    if (at != std::string::npos) perm.push_back(static_cast<int64_t>(at));
  }
  for (int i = static_cast<int>(from.size()); i < t.rank(); ++i) {
    perm.push_back(i);
    shape.push_back(t.shape()[i]);
  }
  return reshape(std::is_sorted(perm.begin(), perm.end()) ? t : transpose(t, perm), shape);
}

Tensors batch_over_x(const BatchArgs& a, int sample_rank) {
  if (std::count(a.batched.begin(), a.batched.end(), true) != 1 || !a.batched[0]) return {};
  const Tensor& x = a.in[0];
  if (x.rank() == sample_rank + 1) return apply(a.op, a.in, a.attrs);
  Shape merged = x.shape();
  merged[1] *= merged[0];
  merged.erase(merged.begin());
  Tensors in      = a.in;
  in[0]           = reshape(x, merged);
  const Tensor y  = apply1(a.op, in, a.attrs);
  Shape        to = y.shape();
  to[0]           = x.shape()[1];
  to.insert(to.begin(), a.size);
  return {reshape(y, to)};
}

}  // namespace braintrace
