// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/synapse.h"

#include <cmath>

#include "braintrace/ops/math.h"

namespace braintrace::nn {

void Synapse::add_delta(const Tensor& x) { deltas_->push_back(x); }

Tensor Synapse::update(const Tensor& x) {
  struct Consume {
    Tensors& deltas;
    ~Consume() { deltas.clear(); }
  } consume{*deltas_};
  if (x.defined()) add_delta(x);
  return advance();
}

Tensor Synapse::with_delta(const Tensor& g) const {
  Tensor total = g;
  for (const Tensor& d : *deltas_) total = total + d;
  return total;
}

Expon::Expon(const Size& size, TimeSetting tau, StepSize dt, Initializer g_init)
    : g(state("g", hidden_state(size.checked("Expon", "size").dims(), g_init))), tau_(std::move(tau)), dt_(dt) {
  tau_.require_positive("Expon", "tau");
  setting("tau", tau_);
}

Tensor Expon::advance() {
  const Tensor old = g.value();
  g.set(with_delta(decay(tau_, dt_.ms(), old) * old));
  return g.value();
}

namespace {

double peak_factor(const DualExponOptions& o) {
  o.tau_decay.require_positive("DualExpon", "tau_decay");
  o.tau_rise.require_positive("DualExpon", "tau_rise");
  if (!o.normalize) return o.A;
  require(o.tau_decay.number() && o.tau_rise.number(),
          "DualExpon: normalization needs one time constant for all units; set normalize to false and choose A.");
  const double d = *o.tau_decay.number(), r = *o.tau_rise.number();
  require(d != r, "DualExpon: equal time constants ({} ms) cannot be normalized; use Alpha.", d);
  return o.A * d / (d - r) * std::pow(r / d, r / (r - d));
}

}  // namespace

DualExpon::DualExpon(const Size& size, DualExponOptions options)
    : g_rise(state("g_rise", hidden_state(size.checked("DualExpon", "size").dims()))),
      g_decay(state("g_decay", hidden_state(size.dims()))),
      options_(std::move(options)),
      A_(peak_factor(options_)) {
  setting("tau_decay", options_.tau_decay);
  setting("tau_rise", options_.tau_rise);
}

Tensor DualExpon::advance() {
  const Tensor rise = g_rise.value(), fall = g_decay.value();
  const double dt = options_.dt.ms();
  g_rise.set(with_delta(decay(options_.tau_rise, dt, rise) * rise));
  g_decay.set(with_delta(decay(options_.tau_decay, dt, fall) * fall));
  return A_ * (g_decay.value() - g_rise.value());
}

Alpha::Alpha(const Size& size, TimeSetting tau, StepSize dt)
    : g(state("g", hidden_state(size.checked("Alpha", "size").dims()))),
      h(state("h", hidden_state(size.dims()))),
      tau_(std::move(tau)),
      dt_(dt) {
  tau_.require_positive("Alpha", "tau");
  setting("tau", tau_);
}

Tensor Alpha::advance() {
  const Tensor old = h.value();
  g.set(relaxed(g.value(), old, tau_, dt_.ms()));
  h.set(with_delta(decay(tau_, dt_.ms(), old) * old));
  return g.value();
}

STP::STP(const Size& size, STPOptions options)
    : x(state("x", hidden_state(size.checked("STP", "size").dims(), 1))),
      u(state("u", hidden_state(size.dims(), options.U))),
      options_(std::move(options)) {
  options_.tau_f.require_positive("STP", "tau_f");
  options_.tau_d.require_positive("STP", "tau_d");
  setting("tau_f", options_.tau_f);
  setting("tau_d", options_.tau_d);
}

Tensor STP::update(const Tensor& z) {
  const Tensor old_u = u.value(), old_x = x.value();
  const double dt    = options_.dt.ms();
  const Tensor grown = decay(options_.tau_f, dt, old_u) * old_u + z * (options_.U * (1 - old_u));
  const Tensor back  = relaxed(old_x, 1, options_.tau_d, dt);
  u.set(grown);
  x.set(back - z * grown * old_x);
  return grown * back * z;
}

STD::STD(const Size& size, STDOptions options)
    : x(state("x", hidden_state(size.checked("STD", "size").dims(), 1))), options_(std::move(options)) {
  options_.tau.require_positive("STD", "tau");
  setting("tau", options_.tau);
}

Tensor STD::update(const Tensor& z) {
  const Tensor old  = x.value();
  const Tensor back = relaxed(old, 1, options_.tau, options_.dt.ms());
  x.set(back - z * (options_.U * old));
  return back * z;
}

SynapseOutput cuba(double scale) {
  return [scale](Neuron& post, const Tensor& g) { post.add_current(scale == 1 ? g : scale * g); };
}
SynapseOutput coba(const VoltageSetting& E) {
  return [E](Neuron& post, const Tensor& g) {
    post.add_current([E, g](const Tensor& v) { return g * (E.value(v) - v); });
  };
}
SynapseOutput mg_block(MgBlockOptions o) {
  require(o.beta > 0, "mg_block: beta must be positive, got {}.", o.beta);
  return [o](Neuron& post, const Tensor& g) {
    post.add_current(
        [o, g](const Tensor& v) { return g * (o.E - v) / (1 + o.Mg / o.beta * exp(o.alpha * (o.V_offset - v))); });
  };
}

DeltaProj::DeltaProj(std::shared_ptr<Module> comm, std::shared_ptr<Neuron> post)
    : comm_(std::move(comm)), post_(std::move(post)) {
  children({{"comm", *comm_}});
}
Tensor DeltaProj::update(const Tensor& x) {
  const Tensor y = (*comm_)(x);
  post_->add_delta(y);
  return y;
}

AlignPostProj::AlignPostProj(std::shared_ptr<Module> comm, std::shared_ptr<Synapse> syn, SynapseOutput out,
                             std::shared_ptr<Neuron> post)
    : comm_(std::move(comm)), syn_(std::move(syn)) {
  children({{"comm", *comm_}, {"syn", *syn_}});
  post->before_update(syn_.get(), [syn = syn_, out = std::move(out)](Neuron& n) { out(n, (*syn)(Tensor())); });
}
Tensor AlignPostProj::update(const Tensor& x) {
  const Tensor y = (*comm_)(x);
  syn_->add_delta(y);
  return y;
}

AlignPreProj::AlignPreProj(std::shared_ptr<Synapse> syn, std::shared_ptr<Module> comm, SynapseOutput out,
                           std::shared_ptr<Neuron> post)
    : syn_(std::move(syn)), comm_(std::move(comm)), out_(std::move(out)), post_(std::move(post)) {
  children({{"syn", *syn_}, {"comm", *comm_}});
}
Tensor AlignPreProj::update(const Tensor& x) {
  const Tensor y = (*comm_)((*syn_)(x));
  out_(*post_, y);
  return y;
}

CurrentProj::CurrentProj(std::shared_ptr<Module> comm, SynapseOutput out, std::shared_ptr<Neuron> post)
    : comm_(std::move(comm)), out_(std::move(out)), post_(std::move(post)) {
  children({{"comm", *comm_}});
}
Tensor CurrentProj::update(const Tensor& x) {
  const Tensor g = (*comm_)(x);
  out_(*post_, g);
  return g;
}

}  // namespace braintrace::nn
