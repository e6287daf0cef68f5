// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/layer.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

std::string Size::text() const {
  return rank() == 1 ? fmt::format("({},)", dims_[0]) : fmt::format("({})", fmt::join(dims_, ", "));
}

const Size& Size::checked(const char* layer, const char* what) const {
  require(!dims_.empty() && std::all_of(dims_.begin(), dims_.end(), [](int64_t d) { return d > 0; }),
          "{}: {} must be positive, got {}.", layer, what, text());
  return *this;
}

Shape batched(const Ints& size, BatchSize batch) {
  Shape s = size;
  if (batch) s.insert(s.begin(), *batch);
  return s;
}

HiddenState hidden_state(const Ints& size, const Initializer& init) {
  return HiddenState([size, init](BatchSize batch) { return Leaves{{"", init(batched(size, batch))}}; });
}

Leaves weight_and_bias(const Shape& weight, const Initializer& w_init, const Shape& bias, const OptionalInit& b_init) {
  Leaves leaves{{"weight", w_init(weight)}};
  if (b_init) leaves["bias"] = (*b_init)(bias);
  return leaves;
}

Tensor leaf_or_none(const ParamState& p, const std::string& name) { return p.has_leaf(name) ? p.leaf(name) : Tensor(); }

Tensor fold_batch(const Tensor& x, int trailing, const std::function<Tensor(const Tensor&)>& f) {
  const int extra = x.rank() - trailing;
  if (extra <= 1) return f(x);
  const auto  cut = x.shape().begin() + extra;
  const Shape lead(x.shape().begin(), cut);
  Shape       folded(cut, x.shape().end());
  folded.insert(folded.begin(), size_of(lead));
  const Tensor y = f(reshape(x, folded));
  Shape        out(y.shape().begin() + 1, y.shape().end());
  out.insert(out.begin(), lead.begin(), lead.end());
  return reshape(y, out);
}

Tensor joined(const Tensor& x, const Tensor& h) {
  require(x.rank() >= 1 && h.rank() >= 1, "a layer reads features along the last axis; the input {} has none.",
          to_string(x.type()));
  const bool is_batched_alike =
      h.rank() < x.rank() ||
      (h.rank() == x.rank() && std::equal(x.shape().begin(), x.shape().end() - 1, h.shape().begin()));
  require(
      is_batched_alike, ErrorKind::Shape,
      "the input is {} and the state is {}; their batch axes differ.\n  Call init_all_states with the batch size of "
      "the inputs, or pass inputs with the batch size of the states.",
      to_string(x.type()), to_string(h.type()));
  Shape wide   = x.shape();
  wide.back()  = h.shape().back();
  const auto t = promote_together({x, h});
  return concat({t[0], h.rank() < x.rank() ? broadcast_to(t[1], wide) : t[1]}, -1);
}

Tensor constant_like(const Tensor& constant, const Tensor& like) {
  return is_float(like.dtype()) ? convert(constant, like.dtype()) : constant;
}

}  // namespace braintrace::nn
