// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/module.h"

#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/spike.h"

namespace braintrace::oracle {

namespace {

Shape shape_of(const Sizes& s) { return Shape(s.begin(), s.end()); }

SparsePattern pattern(int64_t entries, int64_t rows, int64_t columns) {
  std::vector<int32_t> r, c;
  for (int64_t e = 0; e < entries; ++e) {
    r.push_back(static_cast<int32_t>(e % rows));
    c.push_back(static_cast<int32_t>((e + e / rows) % columns));
  }
  return coo(Tensor(Array::of<int32_t>(r, {entries})), Tensor(Array::of<int32_t>(c, {entries})), rows, columns);
}

}  // namespace

DescribedModule::DescribedModule(const Model& model, const Data& data, DType dtype) : m_(model), dtype_(dtype) {
  for (size_t i = 0; i < m_.params.size(); ++i)
    params_.push_back(state(param_name(static_cast<int>(i)),
                            ParamState(Tensor(from_doubles({dtype, shape_of(m_.params[i])}, data.params[i])))));
  for (size_t i = 0; i < m_.states.size(); ++i) {
    const Tensor first = tensor(data.states[i], m_.states[i].shape);
    if (m_.states[i].short_term)
      states_.push_back(state(state_name(static_cast<int>(i)), ShortTermState(first)));
    else
      states_.push_back(state(state_name(static_cast<int>(i)), HiddenState(first)));
  }
}

Tensor DescribedModule::tensor(const std::vector<double>& values, const Sizes& shape) const {
  Shape s = shape_of(shape);
  if (m_.batch > 0) s.insert(s.begin(), m_.batch);
  return Tensor(from_doubles({dtype_, s}, values));
}

Tensor DescribedModule::update(const Tensor& x) {
  Tensors values(m_.nodes.size());
  for (int n = 0; n < m_.outside; ++n) {
    const Node& node = m_.nodes[n];
    if (node.kind == Kind::Input) {
      values[n] = x;
    } else if (node.kind == Kind::Set) {
      states_[node.index].set(values[node.in[0]]);
      values[n] = states_[node.index].value();
    } else {
      values[n] = evaluate(n, values);
    }
  }
  return values[m_.output];
}

bool DescribedModule::loss_reads_states() const {
  for (size_t n = m_.outside; n < m_.nodes.size(); ++n) {
    if (m_.nodes[n].kind == Kind::Old) return true;
    for (int a : m_.nodes[n].in)
      if (m_.nodes[a].kind == Kind::Set) return true;
  }
  return false;
}

Tensor DescribedModule::loss(OnlineLearner& learner, const Tensor& x, const Tensor& target) {
  Tensors old(m_.nodes.size());
  for (size_t n = m_.outside; n < m_.nodes.size(); ++n)
    if (m_.nodes[n].kind == Kind::Old) old[n] = states_[m_.nodes[n].index].value();
  const Tensor y = learner(x);
  return outside(old, y, target);
}

Tensor DescribedModule::outside(const Tensors& old, const Tensor& y, const Tensor& target) const {
  Tensors values = old;
  values.resize(m_.nodes.size());
  values[m_.output] = y;
  for (int n = m_.outside; n < static_cast<int>(m_.nodes.size()); ++n) {
    const Node& node = m_.nodes[n];
    for (int a : node.in)
      if (m_.is_inside(a) && m_.nodes[a].kind == Kind::Set) values[a] = states_[m_.nodes[a].index].value();
    if (node.kind == Kind::Target)
      values[n] = target;
    else if (node.kind != Kind::Old)
      values[n] = evaluate(n, values);
  }
  return values.back();
}

Tensor DescribedModule::evaluate(int n, const Tensors& values) const {
  const Node& node = m_.nodes[n];
  const auto  in   = [&](size_t k) { return values[node.in[k]]; };
  switch (node.kind) {
    case Kind::Param:
      return params_[node.index].value();
    case Kind::Old:
      return states_[node.index].value();
    case Kind::Affine:
      return node.offset == 0 ? node.number * in(0) : node.number * in(0) + node.offset;
    case Kind::Tanh:
      return tanh(in(0));
    case Kind::Sigmoid:
      return sigmoid(in(0));
    case Kind::Square:
      return square(in(0));
    case Kind::Spike:
      return spike(in(0), Surrogate("sigmoid", {4}));
    case Kind::Stop:
      return stop_gradient(in(0));
    case Kind::Add:
      return in(0) + in(1);
    case Kind::Sub:
      return in(0) - in(1);
    case Kind::Mul:
      return in(0) * in(1);
    case Kind::Select:
      return select(greater(in(2), 0.1), in(0), in(1));
    case Kind::Roll:
      return roll(in(0), 1, -1);
    case Kind::MeanSub:
      return in(0) - mean(in(0), Ints{-1}, true);
    case Kind::CumSum:
      return cumsum(in(0), -1);
    case Kind::Mean:
      return mean(in(0), Ints{-1}, true);
    case Kind::Concat:
      return concat({in(0), in(1)}, -1);
    case Kind::Reshape:
      return reshape(in(0), shape_of(m_.full(node)));
    case Kind::Dot:
      return dot(in(0), in(1));
    case Kind::Matmul:
      return node.in.size() > 2 ? matmul(in(0), in(1), in(2)) : matmul(in(0), in(1));
    case Kind::Lora:
      return lora_matmul(in(0), in(1), in(2), {}, {.alpha = 0.7});
    case Kind::Grouped:
      return grouped_matmul(in(0), in(1));
    case Kind::Conv:
      return conv(in(0), in(1), {}, {.padding = Padding::valid(), .layout = "NWC,WIO->NWC"});
    case Kind::Einsum:
      return einsum(node.shape.size() == 1 ? "bi,oi->bo" : "btk,kn->btn", in(0), in(1));
    case Kind::Sparse:
      return sparse_matmul(in(0), in(1), pattern(in(1).size(), in(0).shape().back(), node.shape.back()));
    case Kind::Embedding:
      return embedding(convert(greater(squeeze(slice_axis(in(0), -1, 0, 1), {-1}), 0.0), DType::I32), in(1));
    case Kind::ElementWise:
      return element_wise(in(0));
    case Kind::Sum:
      return sum(in(0));
    default:  // Output
      return in(0);
  }
}

}  // namespace braintrace::oracle
