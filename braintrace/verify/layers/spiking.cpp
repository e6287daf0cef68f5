// SPDX-License-Identifier: Apache-2.0
// Spiking populations with conductances, spike-triggered currents and convolutions. Times are in ms.
#include "braintrace/etp/dense.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/verify/layers/layers.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::golden {

namespace {

ModulePtr gif_population(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  const double  dt  = f.number("dt_ms");
  const auto    neu = std::make_shared<nn::GIF>(n, nn::GIFOptions{.tau    = setting_of<nn::TimeSetting>(f, "tau_ms", n),
                                                                  .tau_I2 = setting_of<nn::TimeSetting>(f, "tau_I2_ms", n),
                                                                  .A2     = setting_of<nn::CurrentSetting>(f, "A2", n),
                                                                  .V_th = setting_of<nn::VoltageSetting>(f, "V_th", n),
                                                                  .R    = setting_of<nn::ResistanceSetting>(f, "R", n),
                                                                  .surrogate  = surrogate_of(f),
                                                                  .hold_reset = true,
                                                                  .dt         = dt});
  const auto    syn = std::make_shared<nn::Expon>(n, setting_of<nn::TimeSetting>(f, "tau_syn_ms", n), dt);
  auto          m   = make_cell();
  auto          w   = m->linear("ir2r", f.integer("n_in") + n, n);
  m->part("exp", ModulePtr(syn));
  m->part("r", ModulePtr(neu));
  m->step = [=](const Tensor& x) mutable { return (*neu)((*syn)(w(joined(x, neu->spikes())))); };
  return m;
}

// The state of a flat population has the size of the convolution's result; spikes return in its shape.
ModulePtr conv_population(const Fields& f, bool flat) {
  const auto    conv = nested_conv(f, "conv");
  const Shape   out  = *conv->out_size();
  const int64_t n    = size_of(out);
  const auto    neu  = std::make_shared<nn::LIF>(flat ? nn::Size(n) : nn::Size(out), lif_options(f, n));
  auto          m    = make_cell();
  m->part("conv", ModulePtr(conv));
  std::shared_ptr<nn::Expon> syn;
  if (flat) {
    syn = std::make_shared<nn::Expon>(n, setting_of<nn::TimeSetting>(f, "tau_syn_ms", n), f.number("dt_ms"));
    m->part("syn", ModulePtr(syn));
  }
  m->part("neu", ModulePtr(neu));
  m->step = [=](const Tensor& x) {
    const Tensor y = (*conv)(x);
    if (!flat) return (*neu)(y);
    Shape lead(y.shape().begin(), y.shape().end() - static_cast<int64_t>(out.size()));
    lead.push_back(n);
    return reshape((*neu)((*syn)(reshape(y, lead))), y.shape());
  };
  return m;
}

// g_· ← e^{-dt/τ_syn} g_· + matmul([x;z], |w_·|);  τ dv/dt = -v + V_rest + R (g_exc (E_exc-v) + g_inh (E_inh-v))
ModulePtr coba_population(const Fields& f) {
  const int64_t n = f.integer("n_rec"), n_in = f.integer("n_in");
  const double  dt = f.number("dt_ms"), tau = f.number("tau_ms"), R = f.number("R"), V_rest = f.number("V_rest"),
               V_th = f.number("V_th"), V_reset = f.number("V_reset"), E_exc = f.number("E_exc"),
               E_inh            = f.number("E_inh");
  const nn::TimeSetting tau_syn = f.number("tau_syn_ms");
  if (tau <= 0) f.refuse("tau_ms", "must be positive.");
  tau_syn.require_positive("snn_coba", "tau_syn_ms");
  const Surrogate s = surrogate_of(f);
  auto            m = make_cell();
  const auto      V = m->hidden("V", {n}), g_exc = m->hidden("g_exc", {n}), g_inh = m->hidden("g_inh", {n});
  const auto      w_exc = m->param("w_exc", {n_in + n, n}), w_inh = m->param("w_inh", {n_in + n, n});
  m->step = [=](const Tensor& x) {
    const Tensor v = V.value(), z = spike((v - V_th) / (V_th - V_reset), s), u = joined(x, z);
    for (const auto& [g, w] : {std::pair(g_exc, w_exc), std::pair(g_inh, w_inh)}) {
      const Tensor kept = decay(tau_syn, dt, v) * g.value();
      g.set(kept + matmul(u, w.value(), {}, {.weight_fn = [](const Tensor& t) { return abs(t); }}));
    }
    const Tensor exc = g_exc.value(), inh = g_inh.value();
    const auto   drift = [&](const Tensor& p) {
      return (-p + V_rest + R * (exc * (E_exc - p) + inh * (E_inh - p))) / tau;
    };
    V.set(nn::exp_euler(drift, v - (V_th - V_reset) * z, dt));
    return spike((V.value() - V_th) / (V_th - V_reset), s);
  };
  return m;
}

}  // namespace

std::vector<LayerType> spiking_layers() {
  const std::string membrane = zoo::membrane_fields(5, 1, 0, 0);
  return {
      {"gif_expcu", "g ← e^{-dt/τ_syn} g + ir2r([x;z]) drives a gif population with spike-triggered current I2",
       "n_in n_rec tau_ms=20.0 tau_syn_ms=8.0 tau_I2_ms=50.0 A2=0.0 V_th=1.0 R=1.0 dt_ms=1.0 surrogate=\"relu_grad\"",
       gif_population},
      {"conv_lif", "conv(x), flattened, feeds an exponential synapse and a lif population",
       "conv " + membrane + "tau_syn_ms=8.0", [](const Fields& f) { return conv_population(f, true); }},
      {"conv_lif_direct", "conv(x) is the current of a lif population in the layout of its result", "conv " + membrane,
       [](const Fields& f) { return conv_population(f, false); }},
      {"snn_coba", "g_exc, g_inh ← e^{-dt/τ_syn} g + matmul([x;z], |w|); τ dv/dt = -v + V_rest + R Σ g (E-v)",
       "n_in n_rec tau_ms=5.0 tau_syn_ms=8.0 V_th=1.0 V_reset=0.0 V_rest=0.0 R=1.0 E_exc=3.0 E_inh=-1.0 dt_ms=1.0 "
       "surrogate=\"relu_grad\"",
       coba_population},
  };
}

}  // namespace braintrace::golden
