// SPDX-License-Identifier: Apache-2.0
#include "braintrace/control/check_trainable.h"

#include <algorithm>
#include <cmath>

#include "braintrace/base/rng.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr int64_t S = 2, B = 3;

double relative_error(const Tensor& got, const Tensor& expected) {
  const Array a = got.array(), b = expected.array();
  if (a.type() != b.type()) return INFINITY;
  double difference = 0, scale = 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::isfinite(at(a, i)) ? std::abs(at(a, i) - at(b, i)) : INFINITY);
    scale      = std::max(scale, std::abs(at(b, i)));
  }
  return difference / scale;
}

// One use of the operation with its values.
struct Use {
  Program program;
  Tensors in;
  EtpCall call = {};

  Use(const Op& op, const Sample& s) : in(s.in) {
    program = trace(types_of(in), [&](const Tensors& args) { return apply(op, args, s.attrs); }).program;
    call    = call_of(program.eqns.front());
  }
  EtpCall call_of(const Eqn& e) const { return {e.op, e.attrs, program.types_of(e.in), program.type(e.out[0])}; }

  Tensor vjp_of(int operand, const Tensor& c) const {
    Mask active(in.size());
    active[operand] = true;
    const Tensor w  = vjp(program, in, active).pullback({c})[0];
    return w.defined() ? w : Tensor(in[operand].type(), 0);
  }
};

Tensor random_like(Rng& rng, const Type& y, const Shape& trailing = {}) {
  Type t = y;
  t.shape.insert(t.shape.end(), trailing.begin(), trailing.end());
  return random_array(rng, t);
}

void measure_one(const Use& use, const EtpWeight& w, int k, Rng& rng, TrainableErrors& e) {
  const EtpCall& call = use.call;
  const Tensor   c = random_like(rng, call.y), D_f = random_like(rng, call.y, {S}), ell = random_like(rng, call.y, {S}),
               D = random_like(rng, call.y, {S, S});
  auto worst     = [](double& sofar, double now) { sofar = std::max(sofar, now); };

  worst(e.pull_back, relative_error(pull_back(call, k, use.in, c), use.vjp_of(w.operand, c)));

  const Tensor eps = instant(call, k, use.in, D_f);
  worst(e.contract,
        relative_error(contract(call, k, use.in, ell, eps), use.vjp_of(w.operand, sum(ell * D_f, Ints{-1}))));

  const Tensor D_D_f = sum(D * expand_dims(D_f, -2), Ints{-1});
  worst(e.propagate, relative_error(contract(call, k, use.in, ell, propagate(call, k, D, eps)),
                                    use.vjp_of(w.operand, sum(ell * D_D_f, Ints{-1}))));
  Shape expected = trace_shape(call, k);
  expected.push_back(S);
  if (eps.shape() != expected) e.contract = INFINITY;
}

// B samples of x through the batching rule: the batched program must still contain one trainable operation, and its
// rules must compute the sum of the gradients of the samples.
double batch_error(const Op& op, size_t index, const Use& one, Rng& rng) {
  const int mapped = std::max(op.etp->x, 0);
  Tensors   parts, in = one.in;
  for (int64_t b = 0; b < B; ++b) parts.push_back(op.sample(op, rng)[index].in[mapped]);
  in[mapped] = stack(parts, 0);
  Mask mask(in.size());
  mask[mapped]            = true;
  const Program p         = vmap_program(one.program, mask, B);
  const auto    trainable = [](const Eqn& e) { return e.op->etp != nullptr; };
  const auto    eqn       = std::find_if(p.eqns.begin(), p.eqns.end(), trainable);
  if (std::count_if(p.eqns.begin(), p.eqns.end(), trainable) != 1) return INFINITY;

  Tensors values(p.types.size());
  bind_inputs(p, in, values);
  for (const Eqn& e : p.eqns) scatter(values, e.out, apply(*e.op, gather(values, e.in), e.attrs));
  // The cotangent of the operation itself, pulled back through what the batching rule put after it.
  const Tensor c    = random_like(rng, p.type(p.results[0]));
  Program      rest = p;
  rest.args         = {eqn->out[0]};
  rest.eqns.assign(eqn + 1, p.eqns.end());
  const Tensor  c_y     = vjp(rest, {values[eqn->out[0]]}, {true}).pullback({c})[0];
  const EtpCall batch   = {eqn->op, eqn->attrs, p.types_of(eqn->in), p.type(eqn->out[0])};
  const auto    weights = op.etp->weights(one.call);
  double        error   = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    if (weights[k].operand == mapped) continue;
    Tensor total;
    for (int64_t b = 0; b < B; ++b) {
      Use sample        = one;
      sample.in[mapped] = parts[b];
      total             = add_defined(
                      total, pull_back(sample.call, static_cast<int>(k), sample.in, squeeze(slice_axis(c, 0, b, b + 1), {0})));
    }
    const Tensor got = pull_back(batch, static_cast<int>(k), gather(values, eqn->in), c_y);
    error            = std::max(error, relative_error(reshape(got, total.shape()), total));
  }
  return error;
}

}  // namespace

double TrainableErrors::largest() const { return std::max({pull_back, contract, propagate, batched}); }

TrainableErrors measure_trainable(const Op& op, uint64_t seed) {
  Rng             rng(seed);
  TrainableErrors e;
  const auto      samples = op.sample(op, rng);
  for (size_t i = 0; i < samples.size(); ++i) {
    const Use  use(op, samples[i]);
    const auto weights = op.etp->weights(use.call);
    for (size_t k = 0; k < weights.size(); ++k) measure_one(use, weights[k], static_cast<int>(k), rng, e);
    e.batched = std::max(e.batched, batch_error(op, i, use, rng));
  }
  return e;
}

void check_trainable(const Op& op) {
  require(op.etp, "check_trainable: '{}' has no rules; set the etp slot of its record.", op.name);
  const EtpRules& r = *op.etp;
  require(
      r.primitive && r.weights && r.coefficient && r.spread && r.fold && op.sample,
      "check_trainable: '{}' needs primitive, weights, coefficient, spread and fold, and a sample slot in its record.",
      op.name);
  constexpr double      tolerance = 1e-9;  // sums of a few products in f64, in another order
  const TrainableErrors e         = measure_trainable(op);
  require(e.pull_back < tolerance,
          "check_trainable: '{}': fold(coefficient · spread(c)) differs from the vjp of the operation by {:.2g}.\n"
          "  coefficient must be ∂y/∂w on the trace axes, and fold the sum over them.",
          op.name, e.pull_back);
  require(e.contract < tolerance && e.propagate < tolerance,
          "check_trainable: '{}': D, D_f and ℓ do not act position by position (errors {:.2g} and {:.2g}).\n"
          "  spread may only move values to the trace axes: no factor of the operation belongs there.",
          op.name, e.contract, e.propagate);
  require(
      e.batched < tolerance,
      "check_trainable: '{}': mapped over x it is not one trainable operation with the sum of its samples' gradients "
      "(error {:.2g}).\n  Give the record a batch rule.",
      op.name, e.batched);
}

}  // namespace braintrace
