// SPDX-License-Identifier: Apache-2.0
// Populations of neurons (x is their current), synapses (x is added to them), and layers that read spikes.
#include "braintrace/nn/integrators.h"
#include "braintrace/nn/learnable_delay.h"
#include "braintrace/nn/readout.h"
#include "braintrace/nn/refractory.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/zoo/parts.h"
#include "braintrace/zoo/registry.h"

namespace braintrace::zoo {

namespace {

nn::LIFOptions membrane(const Fields& f) { return lif_options(f, size_of_population(f)); }
nn::LIFOptions cortical_membrane(const Fields& f) {
  nn::LIFOptions o = membrane(f);
  o.V_init         = f.number("V_init");
  return o;
}
nn::LIFOptions membrane_from(const Fields& f) {
  nn::LIFOptions o = cortical_membrane(f);
  o.strict         = f.flag("strict");
  return o;
}
nn::TimeSetting time_of(const Fields& f, const std::string& name) {
  return setting_of<nn::TimeSetting>(f, name, size_of_population(f));
}
nn::ExpIFOptions exponential(const Fields& f) { return {.V_T = f.number("V_T"), .delta_T = f.number("delta_T")}; }
nn::QuaIFOptions quadratic(const Fields& f) { return {.V_c = f.number("V_c"), .c = f.number("c")}; }
nn::ALIFOptions  adaptive_threshold(const Fields& f) {
   return {.tau_a = time_of(f, "tau_a_ms"), .beta = setting_of<nn::VoltageSetting>(f, "beta", size_of_population(f))};
}
nn::AdaptationOptions adaptation(const Fields& f) {
  return {.a = f.number("a"), .b = f.number("b"), .tau_w = time_of(f, "tau_w_ms")};
}

// A layer type of class L, made from its size and what `parts` read from the fields.
template <class L, class... Part>
std::function<ModulePtr(const Fields&)> make(Part... parts) {
  return [=](const Fields& f) -> ModulePtr { return std::make_shared<L>(size_of_population(f), parts(f)...); };
}
auto time_field(const char* name) {
  return [name](const Fields& f) { return time_of(f, name); };
}
nn::StepSize step_size(const Fields& f) { return f.number("dt_ms"); }

ModulePtr izhikevich(const Fields& f) {
  nn::IzhikevichOptions o{.a = f.number("a"), .b = f.number("b"), .c = f.number("c"), .d = f.number("d")};
  o.V_th      = f.number("V_th");
  o.surrogate = surrogate_of(f);
  o.dt        = f.number("dt_ms");
  o.method    = nn::integrator_named(f.choice("method", {"exp_euler", "euler"}));
  return std::make_shared<nn::Izhikevich>(f.integer("n"), o);
}
nn::GifOptions two_currents(const Fields& f) {
  nn::GifOptions o;
  o.A1                 = f.number("A1");
  o.A2                 = f.number("A2");
  o.membrane.dt        = f.number("dt_ms");
  o.membrane.tau       = time_of(f, "tau_ms");
  o.membrane.surrogate = surrogate_of(f);
  return o;
}
nn::GifOptions two_currents_undecayed(const Fields& f) {
  nn::GifOptions o = two_currents(f);
  o.decay_first    = false;
  return o;
}

nn::IntegratorOptions leaky(const Fields& f) {
  const nn::Size n = size_of_population(f);
  return {.tau    = time_of(f, "tau_ms"),
          .V_rest = setting_of<nn::VoltageSetting>(f, "V_rest", n),
          .R      = setting_of<nn::ResistanceSetting>(f, "R", n),
          .V_init = f.number("V_init"),
          .dt     = f.number("dt_ms"),
          .method = nn::integrator_named(f.choice("method", {"exp_euler", "euler"}))};
}
nn::Setting<double> plain_setting(const Fields& f, const std::string& name) {
  return setting_of<nn::Setting<double>>(f, name, size_of_population(f));
}
nn::SynapseFilter filter(const Fields& f) {
  return {.tau = time_of(f, "tau_syn_ms"), .w_in = plain_setting(f, "w_in")};
}
nn::PerfectIFOptions without_leak(const Fields& f) {
  const nn::Size n = size_of_population(f);
  return {.R         = plain_setting(f, "R"),
          .V_th      = setting_of<nn::VoltageSetting>(f, "V_th", n),
          .V_reset   = setting_of<nn::VoltageSetting>(f, "V_reset", n),
          .reset     = nn::reset_named(f.choice("spk_reset", {"soft", "hard"})),
          .surrogate = surrogate_of(f),
          .V_init    = f.number("V_init"),
          .dt        = f.number("dt_ms"),
          .strict    = f.flag("strict")};
}
// First delays: one number for all units, or one for each.
nn::Initializer delays_of(const Fields& f) {
  const auto value = setting_value(f, "delay_ms", size_of_population(f));
  if (!std::holds_alternative<Tensor>(value)) f.refuse("delay_ms", "delays are trainable; give numbers.");
  const Array given = std::get<Tensor>(value).array();
  return {"given", [given](const Shape& shape, Rng&) {
            nn::Initializer::Values out(static_cast<size_t>(size_of(shape)), at(given, 0));
            for (size_t i = 0; i < out.size() && given.size() > 1; ++i) out[i] = at(given, static_cast<int64_t>(i));
            return out;
          }};
}

std::string lif_fields() { return "n " + membrane_fields(5, 1, 0, 0); }

}  // namespace

std::vector<LayerType> neuron_layers() {
  const std::string lif      = lif_fields();
  const std::string cortical = "n " + membrane_fields(10, -30, -68, -65, "hard");
  const std::string ref = " tau_ref_ms=5.0", short_ref = " tau_ref_ms=1.7";
  const std::string alif = lif + " tau_a_ms=100.0 beta=0.1";
  const std::string exp  = cortical + " V_init=-65.0 V_T=-59.9 delta_T=3.48",
                    qua  = cortical + " V_init=-65.0 V_c=-50.0 c=0.07";
  const std::string adex = exp + " a=1.0 b=1.0 tau_w_ms=30.0", adqua = qua + " a=1.0 b=0.1 tau_w_ms=10.0";
  const std::string two_current_fields = "n tau_ms=20.0 A1=0.0 A2=0.0 dt_ms=1.0 surrogate=\"relu_grad\"";
  const auto        tau_ref            = time_field("tau_ref_ms");
  return {
      {"if", "τ dv/dt = -v + R x; v ← v - V_th z at a spike", lif, make<nn::IF>(membrane)},
      {"lif", "τ dv/dt = -v + V_rest + R x; v ← v - (V_th - V_reset) z at a spike; strict: only above V_th",
       lif + "V_init=0.0 strict=false", make<nn::LIF>(membrane_from)},
      {"lif_ref", "lif with refractory period τ_ref", lif + ref, make<nn::LIFRef>(tau_ref, membrane)},
      {"alif", "lif with threshold V_th + β a; a ← a + z at a spike, τ_a da/dt = -a", alif,
       make<nn::ALIF>(adaptive_threshold, membrane)},
      {"alif_ref", "alif with refractory period τ_ref", alif + ref,
       make<nn::ALIFRef>(tau_ref, adaptive_threshold, membrane)},
      {"exp_if", "τ dv/dt = -(v - V_rest) + Δ e^{(v - V_T)/Δ} + R x", exp,
       make<nn::ExpIF>(exponential, cortical_membrane)},
      {"exp_if_ref", "exp_if with refractory period τ_ref", exp + short_ref,
       make<nn::ExpIFRef>(tau_ref, exponential, cortical_membrane)},
      {"adex_if", "exp_if with current -w; w ← w + b z at a spike, τ_w dw/dt = a (v - V_rest) - w", adex,
       make<nn::AdExIF>(adaptation, exponential, cortical_membrane)},
      {"adex_if_ref", "adex_if with refractory period τ_ref", adex + short_ref,
       make<nn::AdExIFRef>(tau_ref, adaptation, exponential, cortical_membrane)},
      {"qua_if", "τ dv/dt = c (v - V_rest)(v - V_c) + R x", qua, make<nn::QuaIF>(quadratic, cortical_membrane)},
      {"ad_qua_if", "qua_if with current -w as in adex_if", adqua,
       make<nn::AdQuaIF>(adaptation, quadratic, cortical_membrane)},
      {"ad_qua_if_ref", "ad_qua_if with refractory period τ_ref", adqua + short_ref,
       make<nn::AdQuaIFRef>(tau_ref, adaptation, quadratic, cortical_membrane)},
      {"izhikevich", "dv/dt = 0.04 v² + 5 v + 140 - u + x, du/dt = a (b v - u); v ← c, u ← u + d at a spike",
       "n a=0.02 b=0.2 c=-65.0 d=8.0 V_th=30.0 dt_ms=1.0 method=\"exp_euler\" surrogate=\"relu_grad\"", izhikevich},
      {"gif_two_currents", "τ dv/dt = -(v - V_rest) + R (I1 + I2 + x), a moving threshold, I_j jump at a spike",
       two_current_fields, make<nn::Gif>(two_currents)},
      {"gif_two_currents_ref", "gif_two_currents with refractory period τ_ref; I_j act before they decay",
       two_current_fields + short_ref, make<nn::GifRef>(tau_ref, two_currents_undecayed)},
      {"cuba_lif", "lif with its own synapse τ_syn dg/dt = -g; τ dv/dt = -v + V_rest + R (g + x)",
       lif + " tau_syn_ms=5.0", make<nn::CubaLIF>(time_field("tau_syn_ms"), membrane)},
      {"coba_lif", "cuba_lif with g (E - v) in place of g", lif + " tau_syn_ms=5.0 E=0.0",
       make<nn::CobaLIF>(
           time_field("tau_syn_ms"), [](const Fields& f) { return f.number("E"); }, membrane)},
  };
}

std::vector<LayerType> integrator_layers() {
  const std::string leak    = "n tau_ms=5.0 V_rest=0.0 R=1.0 V_init=0.0 dt_ms=1.0 method=\"exp_euler\"",
                    synapse = " tau_syn_ms=5.0 w_in=1.0";
  return {
      {"li", "τ dv/dt = V_rest - v + R x; y = v", leak, make<nn::LI>(leaky)},
      {"cuba_li", "li of I, τ_syn dI/dt = -I + w_in x", leak + synapse, make<nn::CubaLI>(filter, leaky)},
      {"integrator", "dv/dt = R x; y = v; R per ms", "n R=1.0 V_init=0.0 dt_ms=1.0",
       make<nn::PerfectIntegrator>([](const Fields& f) { return plain_setting(f, "R"); },
                                   [](const Fields& f) { return f.number("V_init"); }, step_size)},
      {"perfect_if", "dv/dt = R x; v ← v - (V_th - V_reset) z at a spike; R per ms; strict: only above V_th",
       "n R=1.0 V_th=1.0 V_reset=0.0 spk_reset=\"soft\" V_init=0.0 strict=false dt_ms=1.0 surrogate=\"relu_grad\"",
       make<nn::PerfectIF>(without_leak)},
      {"filtered_lif", "lif of I, τ_syn dI/dt = -I + w_in x", lif_fields() + "V_init=0.0 strict=false" + synapse,
       make<nn::FilteredLIF>(filter, membrane_from)},
      {"scale", "y = x ∘ s, s trainable", "n init=1.0",
       make<nn::Scale>([](const Fields& f) { return nn::Initializer(f.number("init")); })},
      {"threshold", "y = 1 where x > threshold, else 0; not strict: where x ≥ threshold",
       "n threshold=1.0 strict=true surrogate=\"relu_grad\"",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::Threshold>(plain_setting(f, "threshold"), surrogate_of(f), f.flag("strict"));
       }},
      {"learnable_delay", "y_t = Σ_k w(k - d) x_{t-k}, d = delay/dt trainable, w(u) = max(0, 1 - |u|/width)/width",
       "n max_ms delay_ms? width=1 dt_ms=1.0",
       [](const Fields& f) -> ModulePtr {
         nn::LearnableDelayOptions o{.delay = {}, .dt = f.number("dt_ms"), .width = f.integer("width")};
         if (f.has("delay_ms")) o.delay = delays_of(f);
         return std::make_shared<nn::LearnableDelay>(size_of_population(f), units::Time(f.number("max_ms")), o);
       }},
  };
}

std::vector<LayerType> synapse_layers() {
  return {
      {"expon", "τ dg/dt = -g; g ← g + x; y = g", "n tau_ms=8.0 dt_ms=1.0",
       make<nn::Expon>(time_field("tau_ms"), step_size)},
      {"dual_expon", "two exponentials fed by x; y = A (g_decay - g_rise)",
       "n tau_decay_ms=10.0 tau_rise_ms=1.0 A=1.0 normalize=true dt_ms=1.0", make<nn::DualExpon>([](const Fields& f) {
         return nn::DualExponOptions{.tau_decay = time_of(f, "tau_decay_ms"),
                                     .tau_rise  = time_of(f, "tau_rise_ms"),
                                     .A         = f.number("A"),
                                     .normalize = f.flag("normalize"),
                                     .dt        = f.number("dt_ms")};
       })},
      {"alpha", "τ dg/dt = -g + h, τ dh/dt = -h; h ← h + x; y = g", "n tau_ms=8.0 dt_ms=1.0",
       make<nn::Alpha>(time_field("tau_ms"), step_size)},
      {"stp", "u ← e^{-dt/τf} u + x U (1-u); y = u r x, r recovers to 1 with τd and loses u r x",
       "n U=0.15 tau_f_ms=1500.0 tau_d_ms=200.0 dt_ms=1.0", make<nn::STP>([](const Fields& f) {
         return nn::STPOptions{.U     = f.number("U"),
                               .tau_f = time_of(f, "tau_f_ms"),
                               .tau_d = time_of(f, "tau_d_ms"),
                               .dt    = f.number("dt_ms")};
       })},
      {"std", "y = r x, r recovers to 1 with τ and loses U r x", "n tau_ms=200.0 U=0.07 dt_ms=1.0",
       make<nn::STD>([](const Fields& f) {
         return nn::STDOptions{.tau = time_of(f, "tau_ms"), .U = f.number("U"), .dt = f.number("dt_ms")};
       })},
  };
}

std::vector<LayerType> spike_reader_layers() {
  return {
      {"leaky_spike_readout", "a lif population whose potential gets x W after each step; y = its spikes",
       "n_in " + lif_fields(),
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::LeakySpikeReadout>(f.integer("n_in"), f.integer("n"), membrane(f));
       }},
      {"spike_count", "n ← n + x; y = n", "n", make<nn::SpikeCountReadout>()},
      {"first_spike", "the time of the first x > 0, `never` until then", "n never=1e7 dt_ms=1.0",
       make<nn::FirstSpikeReadout>([](const Fields& f) { return f.number("never"); }, step_size)},
      {"delay", "the input `steps` steps ago", "n steps",
       make<nn::Delay>([](const Fields& f) { return f.integer("steps"); })},
  };
}

}  // namespace braintrace::zoo
