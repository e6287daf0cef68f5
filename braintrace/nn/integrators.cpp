// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/integrators.h"

#include "braintrace/etp/element_wise.h"
#include "braintrace/ops/math.h"

namespace braintrace::nn {

Tensor toward(Integrator method, const Tensor& v, const Tensor& target, const AnySetting& tau, double dt) {
  if (method == Integrator::ExpEuler) return relaxed(v, target, tau, dt);
  return v + dt * ((target - v) / tau.value(v));
}

LI::LI(const Size& size, IntegratorOptions options)
    : V(state("V", hidden_state(size.checked("LI", "size").dims(), options.V_init))), options_(std::move(options)) {
  options_.tau.require_positive("LI", "tau");
  field("in_size", size.text());
  setting("tau", options_.tau);
  setting("V_rest", options_.V_rest);
  setting("R", options_.R);
  field("method", std::string(name_of(options_.method)));
}
void LI::integrate() {
  const Tensor v      = V.value();
  const Tensor target = options_.V_rest.value(v) + options_.R.value(v) * current(v);
  V.set(with_delta(toward(options_.method, v, target, options_.tau, options_.dt.ms())));
}

CubaLI::CubaLI(const Size& size, SynapseFilter synapse, IntegratorOptions options)
    : I(state("I", hidden_state(size.checked("CubaLI", "size").dims()))),
      V(state("V", hidden_state(size.dims(), options.V_init))),
      synapse_(std::move(synapse)),
      options_(std::move(options)) {
  synapse_.tau.require_positive("CubaLI", "tau_syn");
  options_.tau.require_positive("CubaLI", "tau");
  field("in_size", size.text());
  setting("tau_syn", synapse_.tau);
  setting("w_in", synapse_.w_in);
  setting("tau", options_.tau);
  setting("V_rest", options_.V_rest);
  setting("R", options_.R);
  field("method", std::string(name_of(options_.method)));
}
void CubaLI::integrate() {
  const Tensor v = V.value(), i = I.value();
  const double dt = options_.dt.ms();
  I.set(toward(options_.method, i, synapse_.w_in.value(i) * current(v), synapse_.tau, dt));
  const Tensor target = options_.V_rest.value(v) + options_.R.value(v) * I.value();
  V.set(with_delta(toward(options_.method, v, target, options_.tau, dt)));
}

PerfectIntegrator::PerfectIntegrator(const Size& size, Setting<double> R, Initializer V_init, StepSize dt)
    : V(state("V", hidden_state(size.checked("PerfectIntegrator", "size").dims(), V_init))), R_(std::move(R)), dt_(dt) {
  field("in_size", size.text());
  setting("R", R_);
}
void PerfectIntegrator::integrate() {
  const Tensor v = V.value();
  V.set(with_delta(v + dt_.ms() * (R_.value(v) * current(v))));
}

PerfectIF::PerfectIF(const Size& size, PerfectIFOptions options)
    : V(state("V", hidden_state(size.checked("PerfectIF", "size").dims(), options.V_init))),
      options_(std::move(options)) {
  field("in_size", size.text());
  setting("R", options_.R);
  setting("V_th", options_.V_th);
  setting("V_reset", options_.V_reset);
  field("spk_reset", std::string(name_of(options_.reset)));
  field("spk_fun", options_.surrogate.text());
}
Tensor PerfectIF::get_spike(const Tensor& v) const {
  return spikes_above(v, options_.V_th.value(v), options_.V_reset.value(v), options_.surrogate, options_.strict);
}
void PerfectIF::reset() {
  const Tensor v = V.value();
  V.set(after_reset(v, spikes(), options_.V_th.value(v), options_.V_reset.value(v), options_.reset));
}
void PerfectIF::integrate() {
  const Tensor v = V.value();
  V.set(with_delta(v + options_.dt.ms() * (options_.R.value(v) * current(v))));
}

FilteredLIF::FilteredLIF(const Size& size, SynapseFilter synapse, LIFOptions options)
    : LIF(size.checked("FilteredLIF", "size"), options.checked("FilteredLIF")),
      I(state("I", hidden_state(size.dims()))),
      synapse_(std::move(synapse)) {
  synapse_.tau.require_positive("FilteredLIF", "tau_syn");
  setting("tau_syn", synapse_.tau);
  setting("w_in", synapse_.w_in);
}
void FilteredLIF::integrate() {
  const Tensor v = V.value(), i = I.value();
  I.set(toward(options_.method, i, synapse_.w_in.value(i) * current(v), synapse_.tau, dt_ms()));
  const Tensor target = options_.V_rest.value(v) + options_.R.value(v) * I.value();
  V.set(with_delta(toward(options_.method, v, target, options_.tau, dt_ms())));
}

Scale::Scale(const Size& size, Initializer init)
    : scale(state("scale", ParamState(init(size.checked("Scale", "size").dims())))) {
  field("size", size.text());
}
Tensor Scale::update(const Tensor& x) { return x * element_wise(scale.value()); }

Threshold::Threshold(Setting<double> threshold, Surrogate surrogate, bool strict)
    : threshold_(std::move(threshold)), surrogate_(std::move(surrogate)), strict_(strict) {
  setting("threshold", threshold_);
}
Tensor Threshold::update(const Tensor& x) {
  const Tensor u = x - threshold_.value(x);
  return spike(strict_ ? strictly(u) : u, surrogate_);
}

}  // namespace braintrace::nn
