// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/nonlinear.h"

#include <cmath>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::nn {

LIFOptions cortical() {
  return {.tau = 10.0, .V_th = -30.0, .V_reset = -68.0, .V_rest = -65.0, .R = 1.0, .reset = Reset::Hard, .V_init = -65};
}

void NonlinearIF::integrate_with(const Tensor& own) const {
  const Tensor v = V.value(), tau = options_.tau.value(v), R = options_.R.value(v);
  const Drift  drift = [&](const Tensor& u) {
    const Tensor I = own.defined() ? current(u) + own : current(u);
    return (F(u) + R * I) / tau;
  };
  const Tensor next = with_delta(integrated(options_.method, drift, v, options_.dt.ms()));
  V.set(end_of_upswing(next, options_.V_th.value(v), options_.V_reset.value(v)));
}

ExpIF::ExpIF(const Size& size, ExpIFOptions exponential, LIFOptions options)
    : NonlinearIF(size.checked("ExpIF", "size"), options.checked("ExpIF")), exponential_(exponential) {
  require(exponential.delta_T > 0, "ExpIF: delta_T must be positive, got {}.", exponential.delta_T);
}
Tensor ExpIF::F(const Tensor& v) const {
  const auto [V_T, delta] = exponential_;
  return -(v - options_.V_rest.value(v)) + delta * exp(minimum((v - V_T) / delta, 20));
}

QuaIF::QuaIF(const Size& size, QuaIFOptions quadratic, LIFOptions options)
    : NonlinearIF(size.checked("QuaIF", "size"), options.checked("QuaIF")), quadratic_(quadratic) {}
Tensor QuaIF::F(const Tensor& v) const { return quadratic_.c * (v - options_.V_rest.value(v)) * (v - quadratic_.V_c); }

template <class Base>
template <class Form>
Adapting<Base>::Adapting(const Size& size, AdaptationOptions adaptation, Form form, LIFOptions options)
    : Base(size, form, std::move(options)),
      w(this->state("w", hidden_state(size.dims()))),
      adaptation_(std::move(adaptation)) {
  adaptation_.tau_w.require_positive("adaptation", "tau_w");
  this->setting("tau_w", adaptation_.tau_w);
}

template <class Base>
void Adapting<Base>::reset() {
  const Tensor z = this->spikes();
  this->reset_potential(z);
  w.set(w.value() + adaptation_.b * z);
}
template <class Base>
void Adapting<Base>::integrate() {
  const Tensor raised = w.value();
  this->integrate_with(-raised);
  const Tensor v = this->V.value(), target = adaptation_.a * (v - this->options_.V_rest.value(v));
  w.set(relaxed(raised, target, adaptation_.tau_w, this->options_.dt.ms()));
}

template class Adapting<ExpIF>;
template class Adapting<QuaIF>;

AdExIF::AdExIF(const Size& size, AdaptationOptions adaptation, ExpIFOptions exponential, LIFOptions options)
    : Adapting<ExpIF>(size.checked("AdExIF", "size"), std::move(adaptation), exponential, options.checked("AdExIF")) {}
AdQuaIF::AdQuaIF(const Size& size, AdaptationOptions adaptation, QuaIFOptions quadratic, LIFOptions options)
    : Adapting<QuaIF>(size.checked("AdQuaIF", "size"), std::move(adaptation), quadratic, options.checked("AdQuaIF")) {}

Izhikevich::Izhikevich(const Size& size, IzhikevichOptions options)
    : V(state("V", hidden_state(size.checked("Izhikevich", "size").dims(), options.V_init))),
      u(state("u", hidden_state(size.dims(), options.u_init))),
      options_(std::move(options)) {}
Tensor Izhikevich::get_spike(const Tensor& v) const {
  return spike((v - options_.V_th) / (options_.V_th - options_.c), options_.surrogate);
}
void Izhikevich::reset() {
  const Tensor z = spikes();
  V.set(after_reset(V.value(), z, options_.V_th, options_.c, Reset::Hard));
  u.set(u.value() + options_.d * z);
}
void Izhikevich::integrate() {
  const Tensor raised = u.value();
  const double dt     = options_.dt.ms();
  const Drift  drift  = [&](const Tensor& x) { return 0.04 * square(x) + 5 * x + 140 - raised + current(x); };
  V.set(end_of_upswing(with_delta(integrated(options_.method, drift, V.value(), dt)), options_.V_th, options_.c));
  u.set(relaxed(raised, options_.b * V.value(), TimeSetting(1 / options_.a), dt));
}

Gif::Gif(const Size& size, GifOptions options)
    : V(state("V", hidden_state(size.checked("Gif", "size").dims(), options.membrane.V_init))),
      I1(state("I1", hidden_state(size.dims()))),
      I2(state("I2", hidden_state(size.dims()))),
      V_th(state("V_th", hidden_state(size.dims(), options.V_th_inf))),
      options_(std::move(options)) {
  options_.membrane.tau.require_positive("Gif", "tau");
}
Tensor Gif::spikes() const {
  const Tensor th = V_th.value();  // read first, as the group of the neuron lists it
  return spikes_above(th, V.value());
}
Tensor Gif::spikes_above(const Tensor& th, const Tensor& v) const {
  return spike((v - th) / (th - options_.membrane.V_reset.value(v)), options_.membrane.surrogate);
}
void Gif::reset() {
  const auto&  o = options_;
  const Tensor z = spikes(), th = V_th.value();
  const auto   jump = [&](const Tensor& I, double R, double A) { return blended(z, I, R * I + A); };
  V.set(after_reset(V.value(), z, th, o.membrane.V_reset.value(z), o.membrane.reset));
  I1.set(jump(I1.value(), o.R1, o.A1));
  I2.set(jump(I2.value(), o.R2, o.A2));
  V_th.set(blended(z, th, maximum(th, o.V_th_reset)));
}
void Gif::integrate() {
  const auto&  o  = options_;
  const auto&  m  = o.membrane;
  const double dt = dt_ms();
  const Tensor v = V.value(), V_rest = m.V_rest.value(v), R = m.R.value(v), tau = m.tau.value(v);
  const Tensor before_decay = I1.value() + I2.value();
  I1.set(std::exp(-o.k1 * dt) * I1.value());
  I2.set(std::exp(-o.k2 * dt) * I2.value());
  V_th.set(exp_euler([&](const Tensor& x) { return o.a * (v - V_rest) - o.b * (x - o.V_th_inf); }, V_th.value(), dt));
  const Tensor own   = o.decay_first ? I1.value() + I2.value() : before_decay;
  const Drift  drift = [&](const Tensor& x) { return (-(x - V_rest) + R * (own + current(x))) / tau; };
  V.set(with_delta(integrated(m.method, drift, v, dt)));
}

SynapticLIF::SynapticLIF(const char* name, const Size& size, TimeSetting tau_syn, std::optional<double> E,
                         const LIFOptions& options)
    : LIF(size.checked(name, "size"), options.checked(name)),
      g(state("g", hidden_state(size.dims()))),
      tau_syn_(std::move(tau_syn)),
      E_(E) {
  tau_syn_.require_positive(name, "tau_syn");
  setting("tau_syn", tau_syn_);
}
void SynapticLIF::integrate() {
  const Tensor v = V.value(), old = g.value();
  g.set(with_delta(decay(tau_syn_, options_.dt.ms(), old) * old));
  const Tensor now = g.value(), V_rest = options_.V_rest.value(v), R = options_.R.value(v), tau = options_.tau.value(v);
  const Drift  drift = [&](const Tensor& x) {
    return (-(x - V_rest) + R * ((E_ ? now * (*E_ - x) : now) + current(x))) / tau;
  };
  V.set(integrated(options_.method, drift, v, options_.dt.ms()));
}

}  // namespace braintrace::nn
