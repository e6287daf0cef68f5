// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/neuron.h"

#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

LIFOptions LIFOptions::checked(const char* neuron) const {
  tau.require_positive(neuron, "tau");
  return *this;
}

LIF::LIF(const Size& size, LIFOptions options)
    : V(state("V", hidden_state(size.checked("LIF", "size").dims(), options.V_init))),
      options_(options.checked("LIF")) {
  field("in_size", size.text());
  setting("tau", options_.tau);
  setting("V_th", options_.V_th);
  setting("V_reset", options_.V_reset);
  setting("V_rest", options_.V_rest);
  setting("R", options_.R);
  field("spk_reset", std::string(name_of(options_.reset)));
  field("spk_fun", options_.surrogate.text());
  field("method", std::string(name_of(options_.method)));
}

Tensor LIF::get_spike(const Tensor& v) const {
  return spikes_above(v, options_.V_th.value(v), options_.V_reset.value(v), options_.surrogate, options_.strict);
}

void LIF::reset_potential(const Tensor& z) const {
  const Tensor v = V.value();
  V.set(after_reset(v, z, options_.V_th.value(v), options_.V_reset.value(v), options_.reset));
}

void LIF::integrate() {
  const Tensor v = V.value(), V_rest = options_.V_rest.value(v), R = options_.R.value(v);
  const double dt = options_.dt.ms();
  if (!current_reads_potential() && options_.method == Integrator::ExpEuler) {
    V.set(with_delta(relaxed(v, V_rest + R * current(v), options_.tau, dt)));
    return;
  }
  const Tensor tau   = options_.tau.value(v);
  const Drift  drift = [&](const Tensor& u) { return (-u + V_rest + R * current(u)) / tau; };
  V.set(with_delta(integrated(options_.method, drift, v, dt)));
}

namespace {

LIFOptions at_rest_zero(LIFOptions o) {
  o.V_reset = 0.0;
  o.V_rest  = 0.0;
  return o;
}

}  // namespace

IF::IF(const Size& size, LIFOptions options) : LIF(size.checked("IF", "size"), at_rest_zero(options.checked("IF"))) {}

ALIF::ALIF(const Size& size, ALIFOptions adaptation, LIFOptions options)
    : LIF(size.checked("ALIF", "size"), options.checked("ALIF")),
      a(state("a", hidden_state(size.dims(), adaptation.a_init))),
      adaptation_(std::move(adaptation)) {
  adaptation_.tau_a.require_positive("ALIF", "tau_a");
  setting("tau_a", adaptation_.tau_a);
  setting("beta", adaptation_.beta);
}

Tensor ALIF::get_spike(const Tensor& v) const {
  const Tensor V_th = options_.V_th.value(v), V_reset = options_.V_reset.value(v);
  return spike((v - V_th - adaptation_.beta.value(v) * a.value()) / (V_th - V_reset), options_.surrogate);
}

void ALIF::reset() {
  const Tensor z = spikes();
  reset_potential(z);
  a.set(a.value() + z);
}
void ALIF::integrate() {
  LIF::integrate();
  const Tensor raised = a.value();
  a.set(decay(adaptation_.tau_a, options_.dt.ms(), raised) * raised);
}

GIF::GIF(const Size& size, GIFOptions options)
    : V(state("V", hidden_state(size.checked("GIF", "size").dims(), options.V_init))),
      I2(state("I2", hidden_state(size.dims(), options.I2_init))),
      options_(std::move(options)) {
  options_.tau.require_positive("GIF", "tau");
  options_.tau_I2.require_positive("GIF", "tau_I2");
  field("in_size", size.text());
  setting("tau", options_.tau);
  setting("tau_I2", options_.tau_I2);
  setting("A2", options_.A2);
  setting("V_th", options_.V_th);
  setting("V_rest", options_.V_rest);
  setting("R", options_.R);
}

Tensor GIF::get_spike(const Tensor& v) const {
  const Tensor V_th = options_.V_th.value(v);
  return spike((v - V_th) / V_th, options_.surrogate);
}

void GIF::reset() {
  const Tensor z = options_.hold_reset ? stop_gradient(spikes()) : spikes();
  V.set(V.value() - options_.V_th.value(z) * z);
  I2.set(I2.value() - options_.A2.value(z) * z);
}
void GIF::integrate() {
  const Tensor v = V.value(), i = I2.value();
  const double dt = options_.dt.ms();
  I2.set(decay(options_.tau_I2, dt, i) * i);
  const Tensor extra = I2.value(), V_rest = options_.V_rest.value(v), R = options_.R.value(v);
  if (current_reads_potential()) {
    const Tensor tau = options_.tau.value(v);
    V.set(
        with_delta(exp_euler([&](const Tensor& u) { return (-u + V_rest + R * (current(u) + extra)) / tau; }, v, dt)));
  } else {
    V.set(with_delta(relaxed(v, V_rest + R * (current(v) + extra), options_.tau, dt)));
  }
}

}  // namespace braintrace::nn
