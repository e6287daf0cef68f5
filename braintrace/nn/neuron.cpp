// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/neuron.h"

#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

LIF::LIF(const Size& size, LIFOptions options)
    : V(state("V", hidden_state(size.checked("LIF", "size").dims(), options.V_init))), options_(std::move(options)) {
  options_.tau.require_positive("LIF", "tau");
  field("in_size", size.text());
  setting("tau", options_.tau);
  setting("V_th", options_.V_th);
  setting("V_reset", options_.V_reset);
  setting("V_rest", options_.V_rest);
  setting("R", options_.R);
  field("spk_reset", std::string(name_of(options_.reset)));
  field("spk_fun", options_.surrogate.text());
}

void LIF::setting(const char* name, const AnySetting& s) {
  if (const auto p = s.param())
    state(name, *p);
  else
    field(name, s.text());
}

Tensor LIF::spikes() const {
  const Tensor v = V.value(), V_th = options_.V_th.value(v), V_reset = options_.V_reset.value(v);
  return spike((v - V_th) / (V_th - V_reset), options_.surrogate);
}

Tensor LIF::reset_potential(const Tensor& z) const {
  const Tensor v = V.value();
  return after_reset(v, z, options_.V_th.value(v), options_.V_reset.value(v), options_.reset);
}

Tensor LIF::stepped(const Tensor& v) const {
  const Tensor V_rest = options_.V_rest.value(v), R = options_.R.value(v);
  const double dt = options_.dt.ms();
  if (!current_reads_potential()) return with_delta(relaxed(v, V_rest + R * current(v), options_.tau, dt));
  const Tensor tau   = options_.tau.value(v);
  const Drift  drift = [&](const Tensor& u) { return (-u + V_rest + R * current(u)) / tau; };
  return with_delta(exp_euler(drift, v, dt));
}

Tensor LIF::advance() {
  V.set(stepped(reset_potential(spikes())));
  return spikes();
}

namespace {

LIFOptions at_rest_zero(LIFOptions o) {
  o.V_reset = 0.0;
  o.V_rest  = 0.0;
  return o;
}

}  // namespace

IF::IF(const Size& size, LIFOptions options) : LIF(size, at_rest_zero(std::move(options))) {}

constexpr double long_ago = 1e7;  // ms

LIFRef::LIFRef(const Size& size, TimeSetting tau_ref, LIFOptions options)
    : LIF(size, std::move(options)),
      since(state("since", ShortTermState([dims = size.dims()](BatchSize batch) {
                    return Leaves{{"", Initializer(long_ago)(batched(dims, batch))}};
                  }))),
      tau_ref_(std::move(tau_ref)) {
  tau_ref_.require_positive("LIFRef", "tau_ref");
  setting("tau_ref", tau_ref_);
}

Tensor LIFRef::advance() {
  const Tensor held    = reset_potential(spikes());
  const Tensor elapsed = stop_gradient(since.value()) + options_.dt.ms();
  V.set(select(less(elapsed, broadcast_to(tau_ref_.value(held), held.shape())), held, stepped(held)));
  const Tensor z = spikes();
  since.set(stop_gradient(elapsed * (1 - z)));
  return z;
}

ALIF::ALIF(const Size& size, ALIFOptions adaptation, LIFOptions options)
    : LIF(size, std::move(options)),
      a(state("a", hidden_state(size.dims(), adaptation.a_init))),
      adaptation_(std::move(adaptation)) {
  adaptation_.tau_a.require_positive("ALIF", "tau_a");
  setting("tau_a", adaptation_.tau_a);
  setting("beta", adaptation_.beta);
}

Tensor ALIF::spikes() const {
  const Tensor v = V.value(), V_th = options_.V_th.value(v), V_reset = options_.V_reset.value(v);
  return spike((v - V_th - adaptation_.beta.value(v) * a.value()) / (V_th - V_reset), options_.surrogate);
}

Tensor ALIF::advance() {
  const Tensor z = spikes(), raised = a.value() + z;
  V.set(stepped(reset_potential(z)));
  a.set(decay(adaptation_.tau_a, options_.dt.ms(), raised) * raised);
  return spikes();
}

GIF::GIF(const Size& size, GIFOptions options)
    : V(state("V", hidden_state(size.checked("GIF", "size").dims(), options.V_init))),
      I2(state("I2", hidden_state(size.dims(), options.I2_init))),
      options_(std::move(options)) {
  options_.tau.require_positive("GIF", "tau");
  options_.tau_I2.require_positive("GIF", "tau_I2");
  const std::pair<const char*, const AnySetting*> settings[] = {
      {"tau", &options_.tau},   {"tau_I2", &options_.tau_I2}, {"A2", &options_.A2},
      {"V_th", &options_.V_th}, {"V_rest", &options_.V_rest}, {"R", &options_.R}};
  field("in_size", size.text());
  for (const auto& [name, s] : settings) {
    if (const auto p = s->param())
      state(name, *p);
    else
      field(name, s->text());
  }
}

Tensor GIF::spikes() const {
  const Tensor v = V.value(), V_th = options_.V_th.value(v);
  return spike((v - V_th) / V_th, options_.surrogate);
}

Tensor GIF::advance() {
  const Tensor z  = options_.hold_reset ? stop_gradient(spikes()) : spikes();
  const Tensor v  = V.value() - options_.V_th.value(z) * z;
  const Tensor i  = I2.value() - options_.A2.value(z) * z;
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
  return spikes();
}

}  // namespace braintrace::nn
