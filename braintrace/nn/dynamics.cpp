// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/dynamics.h"

#include <algorithm>
#include <utility>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::nn {

// Near zero, a power series computes value and derivatives; at |z| = 0.1 its ninth term is below 1e-15.
Tensor exprel(const Tensor& z) {
  const Tensor small = less(abs(z), 0.1);
  const Tensor safe  = select(small, full(z.shape(), 1, z.dtype()), z);
  Tensor       sum   = full(z.shape(), 1, z.dtype());
  for (int n = 10; n >= 2; --n) sum = 1 + z / static_cast<double>(n) * sum;  // 1 + z/2 (1 + z/3 (1 + …))
  return select(small, sum, expm1(safe) / safe);
}

namespace {

// ln √m, m the largest number of the type
double largest_growth(DType t) {
  switch (t) {
    case DType::F64:
      return 354;
    case DType::F16:
      return 5.5;
    default:
      return 44;
  }
}

}  // namespace

Tensor exp_euler(const Drift& f, const Tensor& v, double dt) {
  require(is_float(v.dtype()), "exp_euler: the state must be floating point, got {}.", to_string(v.type()));
  const Traced traced     = trace({v.type()}, [&](const Tensors& in) { return Tensors{f(in[0])}; });
  const Type   slope_type = traced.program.type(traced.program.results[0]);
  require(slope_type == v.type(), "exp_euler: dv/dt of a state {} has type {}.", to_string(v.type()),
          to_string(slope_type));
  Tensors tangents(traced.constants.size());
  tangents.push_back(Tensor(v.type(), 1));
  const Pushed  r     = jvp(traced.program, joined(traced.constants, {v}), tangents);
  const Tensor &slope = r.out[0], &J = r.tangents[0];
  if (!J.defined()) return v + dt * slope;
  return v + dt * exprel(minimum(dt * J, largest_growth(v.dtype()))) * slope;
}

Tensor euler(const Drift& f, const Tensor& v, double dt) { return v + dt * f(v); }

Integrator integrator_named(const std::string& name) {
  require(name == "exp_euler" || name == "euler", "integrator: expected 'exp_euler' or 'euler', got '{}'.", name);
  return name == "euler" ? Integrator::Euler : Integrator::ExpEuler;
}
std::string_view name_of(Integrator method) { return method == Integrator::Euler ? "euler" : "exp_euler"; }

Tensor integrated(Integrator method, const Drift& f, const Tensor& v, double dt) {
  return method == Integrator::Euler ? euler(f, v, dt) : exp_euler(f, v, dt);
}

Reset reset_named(const std::string& name) {
  require(name == "soft" || name == "hard", "spk_reset: expected 'soft' or 'hard', got '{}'.", name);
  return name == "soft" ? Reset::Soft : Reset::Hard;
}
std::string_view name_of(Reset reset) { return reset == Reset::Soft ? "soft" : "hard"; }

Tensor blended(const Tensor& z, const Tensor& a, const Tensor& b) { return (1 - z) * a + z * b; }

Tensor after_reset(const Tensor& v, const Tensor& z, const Tensor& V_th, const Tensor& V_reset, Reset kind) {
  if (kind == Reset::Soft) return v - (V_th - V_reset) * z;
  const Tensor held = stop_gradient(v);
  return blended(z, held, V_reset) + (v - held);
}

// Moves zero below zero, by the smallest number that all element types have.
Tensor strictly(const Tensor& u) {
  constexpr double least = 6e-8;
  return u - least * convert(equal(u, 0), u.dtype());
}

Tensor spikes_above(const Tensor& v, const Tensor& V_th, const Tensor& V_reset, const Surrogate& surrogate,
                    bool strict) {
  const Tensor u = (v - V_th) / (V_th - V_reset);
  return spike(strict ? strictly(u) : u, surrogate);
}

Tensor end_of_upswing(const Tensor& v, const Tensor& V_th, const Tensor& V_reset) {
  return minimum(v, V_th + (V_th - V_reset));
}

void Neuron::add_current(const Tensor& I) { inputs_->constant.push_back(I); }
void Neuron::add_current(std::function<Tensor(const Tensor&)> I) { inputs_->of_potential.push_back(std::move(I)); }
void Neuron::add_delta(const Tensor& d) { inputs_->deltas.push_back(d); }

void Neuron::before_update(const void* key, BeforeUpdate hook) {
  for (const auto& [k, h] : inputs_->hooks)
    if (k == key) return;
  inputs_->hooks.emplace_back(key, std::move(hook));
}

Tensor Neuron::get_spike(const Tensor&) const {
  fail("{}: it computes spikes of its current state only; override get_spike(v) to compute them at a given potential.",
       type_name());
}

Tensor Neuron::update(const Tensor& I) {
  if (I.defined()) add_current(I);
  return stepped([&] {
    reset();
    integrate();
    return spikes();
  });
}

Tensor Neuron::stepped(const std::function<Tensor()>& step) {
  if (std::exchange(inputs_->stepping, true)) return step();
  // Consumes the pending inputs, even if the step throws.
  struct Consume {
    Inputs& in;
    ~Consume() {
      in.constant.clear();
      in.deltas.clear();
      in.of_potential.clear();
      in.stepping = false;
    }
  } consume{*inputs_};
  for (const auto& [key, hook] : inputs_->hooks) hook(*this);
  return step();
}

bool Neuron::current_reads_potential() const { return !inputs_->of_potential.empty(); }

Tensor Neuron::current(const Tensor& v) const {
  Tensor total;
  for (const Tensor& I : inputs_->constant) total = total.defined() ? total + I : I;
  for (const auto& I : inputs_->of_potential) total = total.defined() ? total + I(v) : I(v);
  return total.defined() ? total : zeros_like(v);
}

Tensor Neuron::with_delta(const Tensor& v) const {
  Tensor total = v;
  for (const Tensor& d : inputs_->deltas) total = total + d;
  return total;
}

}  // namespace braintrace::nn
