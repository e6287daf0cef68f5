// SPDX-License-Identifier: Apache-2.0
// Neurons, synapses, projections and readouts of spiking networks.
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/nn/integrators.h"
#include "braintrace/nn/learnable_delay.h"
#include "braintrace/nn/readout.h"
#include "braintrace/nn/refractory.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "casters.h"
#include "doc.h"
#include "gil.h"

namespace pybraintrace {

namespace {

// Parameters that several docstrings describe.
namespace about {
constexpr const char* population = "in_size: number of neurons, or shape of the population.";
constexpr const char* dt         = "dt: time step (ms); default: that of the environment.";
constexpr const char* membrane   = "options: keyword options of the membrane, as of `LIF`.";
constexpr const char* spk_fun    = "spk_fun: surrogate gradient of spikes.";
constexpr const char* V_T        = "V_T: potential where the exponential rise starts (mV).";
constexpr const char* delta_T    = "delta_T: slope of the rise (mV).";
constexpr const char* V_c        = "V_c: critical potential (mV).";
constexpr const char* quadratic  = "c: factor of the quadratic term.";
constexpr const char* a          = "a: coupling of the potential to the adaptation.";
constexpr const char* b          = "b: increment of the adaptation per spike.";
constexpr const char* tau_w      = "tau_w: time constant of the adaptation (ms).";
constexpr const char* V_init     = "V_initializer: initial v.";
constexpr const char* method     = "method: 'exp_euler' or 'euler'.";
constexpr const char* tau_syn    = "tau_syn: time constant of the synapse (ms).";
constexpr const char* tau_ref    = "tau_ref: refractory period (ms).";
constexpr const char* tau        = "tau: time constant (ms).";
constexpr const char* units      = "in_size: number of units, or shape.";
constexpr const char* comm       = "comm: layer that connects the populations, such as Linear.";
constexpr const char* post       = "post: the target population.";
constexpr const char* out        = "out: its effect on the membrane: CUBA, COBA or MgBlock.";
}  // namespace about

namespace nn     = bt::nn;
using Init       = Given<nn::Initializer>;
using Time       = Given<nn::TimeSetting>;
using Voltage    = Given<nn::VoltageSetting>;
using Current    = Given<nn::CurrentSetting>;
using Resistance = Given<nn::ResistanceSetting>;
using Factor     = Given<nn::Setting<double>>;
using Spikes     = Given<bt::Surrogate>;
using Method     = Given<nn::Integrator>;
using Step       = Given<nn::StepSize>;
using SizeArg    = Given<nn::Size>;

// A neuron defined in Python, by get_spike, reset and integrate, or by update.
class PyNeuron : public PyModuleOf<nn::Neuron> {
 public:
  // A custom update is a step too: it runs the incoming synapses first and consumes the pending inputs.
  bt::Tensors update_all(const bt::Tensors& xs) override {
    bt::Tensors out;
    stepped([&] {
      out = PyModuleOf::update_all(xs);
      return bt::Tensor();
    });
    return out;
  }
  bt::Tensor spikes() const override {
    WithGil gil;
    return tensor_from(nb_trampoline.base().attr("get_spike")());
  }
  void reset() override {
    WithGil gil;
    nb_trampoline.base().attr("reset")();
  }
  void integrate() override {
    WithGil gil;
    nb_trampoline.base().attr("integrate")();
  }
};

// Membrane options given by keyword, with the defaults of a class. Errors name that class.
nn::LIFOptions membrane(const SizeArg& size, nn::LIFOptions o, const nb::kwargs& given, const char* layer) {
  size.get().checked(layer, "in_size");
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "tau")
      o.tau = Convert<nn::TimeSetting>::from(value);
    else if (name == "V_th")
      o.V_th = Convert<nn::VoltageSetting>::from(value);
    else if (name == "V_reset")
      o.V_reset = Convert<nn::VoltageSetting>::from(value);
    else if (name == "V_rest")
      o.V_rest = Convert<nn::VoltageSetting>::from(value);
    else if (name == "R")
      o.R = Convert<nn::ResistanceSetting>::from(value);
    else if (name == "spk_reset" || name == "reset")
      o.reset = reset_from(value);
    else if (name == "spk_fun" || name == "surrogate")
      o.surrogate = surrogate_from(value);
    else if (name == "V_initializer" || name == "V_init")
      o.V_init = initializer_from(value);
    else if (name == "dt")
      o.dt = step_size_from(value);
    else if (name == "method")
      o.method = integrator_from(value);
    else if (name == "strict")
      o.strict = nb::cast<bool>(value);
    else if (name != "name")
      nb::raise_type_error(
          "%s: unknown option '%s'; known: tau, V_th, V_reset, V_rest, R, spk_reset, spk_fun, V_initializer, dt, "
          "method, strict",
          layer, name.c_str());
  }
  return o.checked(layer);
}

void bind_membranes(nb::module_& m) {
  nb::class_<nn::Neuron, bt::Module, PyNeuron> c(m, "Neuron", nb::dynamic_attr(),
                                                 "Base class of neuron populations.\n"
                                                 "\n"
                                                 "To write your own, keep its states as attributes, and define either "
                                                 "`get_spike`, `reset` and `integrate`, or `update`.");
  c.def(nb::init<>());
  c.def(
      "__init__", [](nn::Neuron* self, SizeArg, const nb::kwargs&) { new (self) PyNeuron(); }, "in_size"_a, "kwargs"_a);
  c.def(
      "update", [](nn::Neuron& self, std::optional<Arg> x) { return self.nn::Neuron::update(given(x)); },
      "x"_a = nb::none(), "Run one step with an additional current; return the spikes after it.");
  c.def(
      "__call__",
      [](nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
        auto& neuron = nb::cast<nn::Neuron&>(self);
        if (dynamic_cast<PyParts*>(&neuron) || args.size() > 0) return call_module(neuron, args, kwargs);
        return nb::cast(neuron.update_without_current());
      },
      "args"_a, "kwargs"_a, "Run one step with an additional current; return the spikes after it.");
  c.def(
      "get_spike", [](nn::Neuron& self, nb::args) { return self.spikes(); }, "args"_a,
      "Return the spikes of the current state.");
  c.def(
      "add_current",
      [](nn::Neuron& self, nb::handle I) {
        if (PyCallable_Check(I.ptr()) && !nb::isinstance<bt::Tensor>(I))
          self.add_current(tensor_function(I));
        else
          self.add_current(tensor_from(I));
      },
      "I"_a,
      "Add a current to the next step.\n"
      "\n"
      "Args:\n"
      "    I: the current, or a function from the potential to the current.");
  c.def(
      "add_delta", [](nn::Neuron& self, Arg d) { self.add_delta(d); }, "d"_a,
      "Add a value to the potential after the next step.");
  c.def(
      "sum_current_inputs",
      [](nn::Neuron& self, Arg I, std::optional<Arg> V) { return bt::add(I, self.current(V ? *V : I)); }, "I"_a,
      "V"_a = nb::none(), "Return I plus all pending currents, evaluated at the potential V (default: I).");
  c.def(
      "current", [](nn::Neuron& self, Arg v) { return self.current(v); }, "V"_a,
      "Return the sum of the pending currents at the potential V.");
  c.def(
      "sum_delta_inputs", [](nn::Neuron& self, Arg v) { return self.with_delta(v); }, "V"_a,
      "Return V plus the pending deltas.");

  nb::class_<nn::LIF, nn::Neuron>(
      m, "LIF",
      with_args("Leaky integrate-and-fire neurons: tau dv/dt = -v + V_rest + R I.",
                {about::population, "tau: membrane time constant (ms), default 5.", "V_th: threshold (mV), default 1.",
                 "V_reset: reset potential (mV), default 0.", "V_rest: resting potential (mV), default 0.",
                 "R: membrane resistance, default 1.",
                 "spk_reset: 'soft' (subtract the threshold) or 'hard' (set to V_reset), default 'soft'.",
                 "spk_fun: surrogate gradient of spikes, default 'relu_grad'.",
                 "V_initializer: initial potential, default 0.", about::dt,
                 "method: 'exp_euler' or 'euler', default 'exp_euler'.",
                 "strict: do not spike exactly at the threshold, default False."})
          .c_str())
      .def(
          "__init__",
          [](nn::LIF* self, SizeArg size, const nb::kwargs& o) {
            new (self) nn::LIF(size, membrane(size, {}, o, "LIF"));
          },
          "in_size"_a, "options"_a);
  nb::class_<nn::IF, nn::LIF>(
      m, "IF", with_args("LIF neurons with V_reset = V_rest = 0.", {about::population, about::membrane}).c_str())
      .def(
          "__init__",
          [](nn::IF* self, SizeArg size, const nb::kwargs& o) { new (self) nn::IF(size, membrane(size, {}, o, "IF")); },
          "in_size"_a, "options"_a);
  nb::class_<nn::ALIF, nn::LIF>(
      m, "ALIF",
      with_args(
          "LIF neurons with an adaptive threshold V_th + beta a: tau_a da/dt = -a, and each spike adds one to a.",
          {about::population, "tau_a: time constant of the adaptation (ms).",
           "beta: threshold increase per unit of adaptation.", "a_initializer: initial adaptation.", about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::ALIF* self, SizeArg size, Time tau_a, Voltage beta, Init a_init, const nb::kwargs& o) {
            new (self) nn::ALIF(size, {.tau_a = tau_a, .beta = beta, .a_init = a_init}, membrane(size, {}, o, "ALIF"));
          },
          "in_size"_a, "tau_a"_a = 100.0, "beta"_a = 0.1, "a_initializer"_a = 0.0, "options"_a);
  nb::class_<nn::GIF, nn::Neuron>(
      m, "GIF",
      with_args("Generalized integrate-and-fire neurons with one spike-triggered current I2.",
                {about::population, "tau: membrane time constant (ms).", "tau_I2: time constant of I2 (ms).",
                 "A2: decrease of I2 per spike.", "V_th: threshold (mV).", "V_rest: resting potential (mV).",
                 "R: membrane resistance.", about::spk_fun, "hold_reset: do not differentiate through the reset.",
                 "V_initializer: initial potential.", "I2_initializer: initial I2.", about::dt})
          .c_str())
      .def(
          "__init__",
          [](nn::GIF* self, SizeArg size, Time tau, Time tau_I2, Current A2, Voltage V_th, Voltage V_rest, Resistance R,
             Spikes spk_fun, bool hold_reset, Init V_init, Init I2_init, Step dt) {
            nn::GIFOptions o;
            o.tau = tau, o.tau_I2 = tau_I2, o.A2 = A2, o.V_th = V_th, o.V_rest = V_rest, o.R = R, o.surrogate = spk_fun,
            o.hold_reset = hold_reset;
            o.V_init = V_init, o.I2_init = I2_init, o.dt = dt;
            new (self) nn::GIF(size, o);
          },
          "in_size"_a, "tau"_a = 20.0, "tau_I2"_a = 50.0, "A2"_a = 0.0, "V_th"_a = 1.0, "V_rest"_a = 0.0, "R"_a = 1.0,
          "spk_fun"_a = "relu_grad", "hold_reset"_a = false, "V_initializer"_a = 0.0, "I2_initializer"_a = 0.0,
          "dt"_a = nb::none());
  nb::class_<nn::ExpIF, nn::LIF>(m, "ExpIF",
                                 with_args("Exponential integrate-and-fire neurons.",
                                           {about::population, about::V_T, about::delta_T, about::membrane})
                                     .c_str())
      .def(
          "__init__",
          [](nn::ExpIF* self, SizeArg size, double V_T, double delta_T, const nb::kwargs& o) {
            new (self) nn::ExpIF(size, {V_T, delta_T}, membrane(size, nn::cortical(), o, "ExpIF"));
          },
          "in_size"_a, "V_T"_a = -59.9, "delta_T"_a = 3.48, "options"_a);
  nb::class_<nn::QuaIF, nn::LIF>(m, "QuaIF",
                                 with_args("Quadratic integrate-and-fire neurons.",
                                           {about::population, about::V_c, about::quadratic, about::membrane})
                                     .c_str())
      .def(
          "__init__",
          [](nn::QuaIF* self, SizeArg size, double V_c, double q, const nb::kwargs& o) {
            new (self) nn::QuaIF(size, {V_c, q}, membrane(size, nn::cortical(), o, "QuaIF"));
          },
          "in_size"_a, "V_c"_a = -50.0, "c"_a = 0.07, "options"_a);
  nb::class_<nn::AdExIF, nn::LIF>(
      m, "AdExIF",
      with_args("Adaptive exponential integrate-and-fire neurons.",
                {about::population, about::a, about::b, about::tau_w, about::V_T, about::delta_T, about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::AdExIF* self, SizeArg size, double a, double b, Time tau_w, double V_T, double delta_T,
             const nb::kwargs& o) {
            new (self) nn::AdExIF(size, {a, b, tau_w}, {V_T, delta_T}, membrane(size, nn::cortical(), o, "AdExIF"));
          },
          "in_size"_a, "a"_a = 1.0, "b"_a = 1.0, "tau_w"_a = 30.0, "V_T"_a = -59.9, "delta_T"_a = 3.48, "options"_a);
  nb::class_<nn::AdQuaIF, nn::LIF>(
      m, "AdQuaIF",
      with_args("Adaptive quadratic integrate-and-fire neurons.",
                {about::population, about::a, about::b, about::tau_w, about::V_c, about::quadratic, about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::AdQuaIF* self, SizeArg size, double a, double b, Time tau_w, double V_c, double q,
             const nb::kwargs& o) {
            new (self) nn::AdQuaIF(size, {a, b, tau_w}, {V_c, q}, membrane(size, nn::cortical(), o, "AdQuaIF"));
          },
          "in_size"_a, "a"_a = 1.0, "b"_a = 0.1, "tau_w"_a = 10.0, "V_c"_a = -50.0, "c"_a = 0.07, "options"_a);
  nb::class_<nn::Izhikevich, nn::Neuron>(
      m, "Izhikevich",
      with_args("Izhikevich neurons: dv/dt = 0.04 v^2 + 5 v + 140 - u + I, du/dt = a (b v - u); a spike sets v = c, u "
                "= u + d.",
                {about::population, "a: rate of u (per ms).", "b: coupling of v to u.", "c: reset potential (mV).",
                 "d: increment of u per spike.", "V_th: threshold (mV).", about::spk_fun, about::V_init,
                 "u_initializer: initial u.", about::dt, about::method})
          .c_str())
      .def(
          "__init__",
          [](nn::Izhikevich* self, SizeArg size, double a, double b, double q, double d, double V_th, Spikes spk_fun,
             Init V_init, Init u_init, Step dt, Given<nn::Integrator> method) {
            new (self) nn::Izhikevich(size, {a, b, q, d, V_th, spk_fun, V_init, u_init, dt, method});
          },
          "in_size"_a, "a"_a = 0.02, "b"_a = 0.2, "c"_a = -65.0, "d"_a = 8.0, "V_th"_a = 30.0,
          "spk_fun"_a = "relu_grad", "V_initializer"_a = -65.0, "u_initializer"_a = -13.0, "dt"_a = nb::none(),
          "method"_a = "exp_euler");
  nb::class_<nn::Gif, nn::Neuron>(
      m, "Gif",
      with_args("Generalized integrate-and-fire neurons with two spike-triggered currents and a moving threshold.",
                {about::population, about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::Gif* self, SizeArg size, const nb::kwargs& o) {
            nn::GifOptions g;
            g.membrane = membrane(size, g.membrane, o, "Gif");
            new (self) nn::Gif(size, g);
          },
          "in_size"_a, "options"_a);
  nb::class_<nn::CubaLIF, nn::LIF>(m, "CubaLIF",
                                   with_args("LIF neurons driven through a current-based exponential synapse.",
                                             {about::population, about::tau_syn, about::membrane})
                                       .c_str())
      .def(
          "__init__",
          [](nn::CubaLIF* self, SizeArg size, Time tau_syn, const nb::kwargs& o) {
            new (self) nn::CubaLIF(size, tau_syn, membrane(size, {}, o, "CubaLIF"));
          },
          "in_size"_a, "tau_syn"_a = 5.0, "options"_a);
  nb::class_<nn::CobaLIF, nn::LIF>(
      m, "CobaLIF",
      with_args("LIF neurons driven through a conductance-based exponential synapse.",
                {about::population, about::tau_syn, "E: reversal potential (mV).", about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::CobaLIF* self, SizeArg size, Time tau_syn, double E, const nb::kwargs& o) {
            new (self) nn::CobaLIF(size, tau_syn, E, membrane(size, {}, o, "CobaLIF"));
          },
          "in_size"_a, "tau_syn"_a = 5.0, "E"_a = 0.0, "options"_a);
  nb::class_<nn::LIFRef, nn::LIF>(
      m, "LIFRef",
      with_args("LIF neurons with a refractory period.", {about::population, about::tau_ref, about::membrane}).c_str())
      .def(
          "__init__",
          [](nn::LIFRef* self, SizeArg size, Time tau_ref, const nb::kwargs& o) {
            new (self) nn::LIFRef(size, tau_ref, membrane(size, {}, o, "LIFRef"));
          },
          "in_size"_a, "tau_ref"_a = 5.0, "options"_a);
  nb::class_<nn::ALIFRef, nn::ALIF>(
      m, "ALIFRef",
      with_args("ALIF neurons with a refractory period.",
                {about::population, about::tau_ref, "tau_a: time constant of the adaptation (ms).",
                 "beta: threshold increase per unit of adaptation.", about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::ALIFRef* self, SizeArg size, Time tau_ref, Time tau_a, Voltage beta, const nb::kwargs& o) {
            new (self) nn::ALIFRef(size, tau_ref, {.tau_a = tau_a, .beta = beta}, membrane(size, {}, o, "ALIFRef"));
          },
          "in_size"_a, "tau_ref"_a = 5.0, "tau_a"_a = 100.0, "beta"_a = 0.1, "options"_a);
  nb::class_<nn::ExpIFRef, nn::ExpIF>(
      m, "ExpIFRef",
      with_args("ExpIF neurons with a refractory period.",
                {about::population, about::tau_ref, about::V_T, about::delta_T, about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::ExpIFRef* self, SizeArg size, Time tau_ref, double V_T, double delta_T, const nb::kwargs& o) {
            new (self) nn::ExpIFRef(size, tau_ref, {V_T, delta_T}, membrane(size, nn::cortical(), o, "ExpIFRef"));
          },
          "in_size"_a, "tau_ref"_a = 1.7, "V_T"_a = -59.9, "delta_T"_a = 3.48, "options"_a);
  nb::class_<nn::AdExIFRef, nn::AdExIF>(
      m, "AdExIFRef",
      with_args("AdExIF neurons with a refractory period.", {about::population, about::tau_ref, about::a, about::b,
                                                             about::tau_w, about::V_T, about::delta_T, about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::AdExIFRef* self, SizeArg size, Time tau_ref, double a, double b, Time tau_w, double V_T,
             double delta_T, const nb::kwargs& o) {
            new (self) nn::AdExIFRef(size, tau_ref, {a, b, tau_w}, {V_T, delta_T},
                                     membrane(size, nn::cortical(), o, "AdExIFRef"));
          },
          "in_size"_a, "tau_ref"_a = 1.7, "a"_a = 1.0, "b"_a = 1.0, "tau_w"_a = 30.0, "V_T"_a = -59.9,
          "delta_T"_a = 3.48, "options"_a);
  nb::class_<nn::AdQuaIFRef, nn::AdQuaIF>(m, "AdQuaIFRef",
                                          with_args("AdQuaIF neurons with a refractory period.",
                                                    {about::population, about::tau_ref, about::a, about::b,
                                                     about::tau_w, about::V_c, about::quadratic, about::membrane})
                                              .c_str())
      .def(
          "__init__",
          [](nn::AdQuaIFRef* self, SizeArg size, Time tau_ref, double a, double b, Time tau_w, double V_c, double q,
             const nb::kwargs& o) {
            new (self)
                nn::AdQuaIFRef(size, tau_ref, {a, b, tau_w}, {V_c, q}, membrane(size, nn::cortical(), o, "AdQuaIFRef"));
          },
          "in_size"_a, "tau_ref"_a = 1.7, "a"_a = 1.0, "b"_a = 0.1, "tau_w"_a = 10.0, "V_c"_a = -50.0, "c"_a = 0.07,
          "options"_a);
  nb::class_<nn::GifRef, nn::Gif>(
      m, "GifRef",
      with_args("Gif neurons with a refractory period.", {about::population, about::tau_ref, about::membrane}).c_str())
      .def(
          "__init__",
          [](nn::GifRef* self, SizeArg size, Time tau_ref, const nb::kwargs& o) {
            nn::GifOptions g{.decay_first = false};
            g.membrane = membrane(size, g.membrane, o, "GifRef");
            new (self) nn::GifRef(size, tau_ref, g);
          },
          "in_size"_a, "tau_ref"_a = 1.7, "options"_a);
}

nn::IntegratorOptions leak(Time tau, Voltage V_rest, Resistance R, Init V_init, Step dt, Method method) {
  return {.tau = tau, .V_rest = V_rest, .R = R, .V_init = V_init, .dt = dt, .method = method};
}

// Populations of the Neuromorphic Intermediate Representation.
void bind_integrators(nb::module_& m) {
  nb::class_<nn::LI, nn::Neuron>(m, "LI",
                                 with_args("Leaky integrator tau dv/dt = V_rest - v + R x; returns v.",
                                           {about::population, about::tau, "V_rest: resting value.", "R: input gain.",
                                            about::V_init, about::dt, about::method})
                                     .c_str())
      .def(
          "__init__",
          [](nn::LI* self, SizeArg size, Time tau, Voltage V_rest, Resistance R, Init V_init, Step dt, Method method) {
            new (self) nn::LI(size, leak(tau, V_rest, R, V_init, dt, method));
          },
          "in_size"_a, "tau"_a = 5.0, "V_rest"_a = 0.0, "R"_a = 1.0, "V_initializer"_a = 0.0, "dt"_a = nb::none(),
          "method"_a = "exp_euler");
  nb::class_<nn::CubaLI, nn::Neuron>(
      m, "CubaLI",
      with_args(
          "Leaky integrator of a filtered input: tau_syn dI/dt = -I + w_in x, tau dv/dt = V_rest - v + R I; returns v.",
          {about::population, about::tau_syn, "w_in: input gain of the synapse.", about::tau, "V_rest: resting value.",
           "R: gain.", about::V_init, about::dt, about::method})
          .c_str())
      .def(
          "__init__",
          [](nn::CubaLI* self, SizeArg size, Time tau_syn, Factor w_in, Time tau, Voltage V_rest, Resistance R,
             Init V_init, Step dt, Method method) {
            new (self) nn::CubaLI(size, {tau_syn, w_in}, leak(tau, V_rest, R, V_init, dt, method));
          },
          "in_size"_a, "tau_syn"_a = 5.0, "w_in"_a = 1.0, "tau"_a = 5.0, "V_rest"_a = 0.0, "R"_a = 1.0,
          "V_initializer"_a = 0.0, "dt"_a = nb::none(), "method"_a = "exp_euler");
  nb::class_<nn::PerfectIntegrator, nn::Neuron>(
      m, "PerfectIntegrator",
      with_args("Integrator without leak, dv/dt = R x; returns v.",
                {about::population, "R: input gain (per ms).", about::V_init, about::dt})
          .c_str())
      .def(
          "__init__",
          [](nn::PerfectIntegrator* self, SizeArg size, Factor R, Init V_init, Step dt) {
            new (self) nn::PerfectIntegrator(size, R, V_init, dt);
          },
          "in_size"_a, "R"_a = 1.0, "V_initializer"_a = 0.0, "dt"_a = nb::none());
  nb::class_<nn::PerfectIF, nn::Neuron>(
      m, "PerfectIF",
      with_args("Integrate-and-fire neurons without leak: dv/dt = R x.",
                {about::population, "R: input gain (per ms).", "V_th: threshold.", "V_reset: reset value.",
                 "spk_reset: 'soft' or 'hard'.", about::spk_fun, about::V_init, about::dt,
                 "strict: do not spike exactly at the threshold."})
          .c_str())
      .def(
          "__init__",
          [](nn::PerfectIF* self, SizeArg size, Factor R, Voltage V_th, Voltage V_reset, nb::handle spk_reset,
             Spikes spk_fun, Init V_init, Step dt, bool strict) {
            new (self) nn::PerfectIF(size, {.R         = R,
                                            .V_th      = V_th,
                                            .V_reset   = V_reset,
                                            .reset     = reset_from(spk_reset),
                                            .surrogate = spk_fun,
                                            .V_init    = V_init,
                                            .dt        = dt,
                                            .strict    = strict});
          },
          "in_size"_a, "R"_a = 1.0, "V_th"_a = 1.0, "V_reset"_a = 0.0, "spk_reset"_a = "soft",
          "spk_fun"_a = "relu_grad", "V_initializer"_a = 0.0, "dt"_a = nb::none(), "strict"_a = false);
  nb::class_<nn::FilteredLIF, nn::LIF>(
      m, "FilteredLIF",
      with_args("LIF neurons with a filtered input: tau_syn dI/dt = -I + w_in x.",
                {about::population, about::tau_syn, "w_in: input gain of the synapse.", about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::FilteredLIF* self, SizeArg size, Time tau_syn, Factor w_in, const nb::kwargs& o) {
            new (self) nn::FilteredLIF(size, {tau_syn, w_in}, membrane(size, {}, o, "FilteredLIF"));
          },
          "in_size"_a, "tau_syn"_a = 5.0, "w_in"_a = 1.0, "options"_a);
  nb::class_<nn::Scale, bt::Module>(m, "Scale", "Multiply each unit by a factor that learns online.")
      .def(
          "__init__", [](nn::Scale* self, SizeArg size, Init init) { new (self) nn::Scale(size, init); }, "in_size"_a,
          "init"_a = 1.0);
  nb::class_<nn::Threshold, bt::Module>(
      m, "Threshold",
      with_args("Return 1 where x > threshold, else 0.",
                {"threshold: the threshold.", about::spk_fun,
                 "strict: whether x must exceed the threshold; otherwise it may equal it."})
          .c_str())
      .def(
          "__init__",
          [](nn::Threshold* self, Factor threshold, Spikes spk_fun, bool strict) {
            new (self) nn::Threshold(threshold, spk_fun, strict);
          },
          "threshold"_a = 1.0, "spk_fun"_a = "relu_grad", "strict"_a = true);
  nb::class_<nn::LearnableDelay, bt::Module>(
      m, "LearnableDelay",
      with_args("Delay each unit by a trainable time, with interpolation between steps.",
                {about::units, "max: largest delay (ms).",
                 "delay: initializer of the delays (ms), default uniform in [0, max].", about::dt,
                 "width: half-width of the interpolation kernel in steps."})
          .c_str())
      .def(
          "__init__",
          [](nn::LearnableDelay* self, SizeArg size, double max, nb::handle delay, Step dt, int64_t width) {
            nn::LearnableDelayOptions o{.delay = {}, .dt = dt, .width = width};
            if (!delay.is_none()) o.delay = initializer_from(delay);
            new (self) nn::LearnableDelay(size, bt::units::Time(max), o);
          },
          "in_size"_a, "max"_a, "delay"_a = nb::none(), "dt"_a = nb::none(), "width"_a = 1);
}

// Effect of a synapse on a membrane, as a Python object.
struct Output {
  nn::SynapseOutput apply;
};

void bind_synapses(nb::module_& m) {
  nb::class_<nn::Synapse, bt::Module>(
      m, "Synapse", "Base class of synapses, which turn presynaptic input into a conductance or current g.")
      .def(
          "add_delta", [](nn::Synapse& s, Arg x) { s.add_delta(x); }, "x"_a, "Add input to the next step.")
      .def(
          "update", [](nn::Synapse& s, std::optional<Arg> x) { return s.update(given(x)); }, "x"_a = nb::none(),
          "Run one step with an additional input; return g after it.");
  nb::class_<nn::Expon, nn::Synapse>(m, "Expon",
                                     with_args("Exponential synapse: tau dg/dt = -g; input is added to g.",
                                               {about::population, about::tau, "g_initializer: initial g.", about::dt})
                                         .c_str())
      .def(
          "__init__",
          [](nn::Expon* self, SizeArg size, Time tau, Init g_init, Step dt) {
            new (self) nn::Expon(size, tau, dt, g_init);
          },
          "in_size"_a, "tau"_a = 8.0, "g_initializer"_a = 0.0, "dt"_a = nb::none());
  nb::class_<nn::DualExpon, nn::Synapse>(
      m, "DualExpon",
      with_args("Dual exponential synapse: the difference of two exponentials.",
                {about::population, "tau_decay: time constant of the decay (ms).",
                 "tau_rise: time constant of the rise (ms).", "A: amplitude.",
                 "normalize: scale the response to one spike to a peak of A.", about::dt})
          .c_str())
      .def(
          "__init__",
          [](nn::DualExpon* self, SizeArg size, Time decay, Time rise, double A, bool normalize, Step dt) {
            new (self)
                nn::DualExpon(size, {.tau_decay = decay, .tau_rise = rise, .A = A, .normalize = normalize, .dt = dt});
          },
          "in_size"_a, "tau_decay"_a = 10.0, "tau_rise"_a = 1.0, "A"_a = 1.0, "normalize"_a = true,
          "dt"_a = nb::none());
  nb::class_<nn::Alpha, nn::Synapse>(
      m, "Alpha",
      with_args("Alpha synapse: tau dg/dt = -g + h, tau dh/dt = -h; input is added to h.",
                {about::population, about::tau, about::dt})
          .c_str())
      .def(
          "__init__", [](nn::Alpha* self, SizeArg size, Time tau, Step dt) { new (self) nn::Alpha(size, tau, dt); },
          "in_size"_a, "tau"_a = 8.0, "dt"_a = nb::none());
  nb::class_<nn::STP, bt::Module>(
      m, "STP",
      with_args("Short-term plasticity (Tsodyks & Markram 1997).",
                {about::units, "U: increase of the release probability per spike.",
                 "tau_f: time constant of facilitation (ms).", "tau_d: time constant of depression (ms).", about::dt})
          .c_str())
      .def(
          "__init__",
          [](nn::STP* self, SizeArg size, double U, Time tau_f, Time tau_d, Step dt) {
            new (self) nn::STP(size, {U, tau_f, tau_d, dt});
          },
          "in_size"_a, "U"_a = 0.15, "tau_f"_a = 1500.0, "tau_d"_a = 200.0, "dt"_a = nb::none());
  nb::class_<nn::STD, bt::Module>(
      m, "STD",
      with_args("Short-term depression.",
                {about::units, "tau: recovery time constant (ms).", "U: fraction used per spike.", about::dt})
          .c_str())
      .def(
          "__init__",
          [](nn::STD* self, SizeArg size, Time tau, double U, Step dt) {
            new (self) nn::STD(size, {tau, U, dt});
          },
          "in_size"_a, "tau"_a = 200.0, "U"_a = 0.07, "dt"_a = nb::none());

  nb::class_<Output>(m, "SynapseOutput", "Effect of a synapse on a membrane: CUBA, COBA or MgBlock.");
  m.def(
      "CUBA", [](nb::handle scale) { return Output{nn::cuba(scale.is_none() ? 1 : tensor_from(scale).item())}; },
      "scale"_a = 1.0, "Current-based output: I = scale g.");
  m.def(
      "COBA", [](Voltage E) { return Output{nn::coba(E.get())}; }, "E"_a,
      "Conductance-based output with reversal potential E: I = g (E - V).");
  m.def(
      "MgBlock",
      [](double E, double Mg, double alpha, double beta, double V_offset) {
        return Output{nn::mg_block({E, Mg, alpha, beta, V_offset})};
      },
      "E"_a = 0.0, "cc_Mg"_a = 1.2, "alpha"_a = 0.062, "beta"_a = 3.57, "V_offset"_a = 0.0,
      "Conductance-based output with magnesium block (NMDA): I = g (E - V) / (1 + cc_Mg/beta exp(alpha (V_offset - "
      "V))).");

  using ModulePtr  = std::shared_ptr<bt::Module>;
  using NeuronPtr  = std::shared_ptr<nn::Neuron>;
  using SynapsePtr = std::shared_ptr<nn::Synapse>;
  nb::class_<nn::DeltaProj, bt::Module>(
      m, "DeltaProj",
      with_args("Projection that adds comm(x) to the potential of `post` after its next step.",
                {about::comm, about::post})
          .c_str())
      .def(
          "__init__",
          [](nn::DeltaProj* self, ModulePtr comm, NeuronPtr post) {
            new (self) nn::DeltaProj(std::move(comm), std::move(post));
          },
          "comm"_a, "post"_a);
  nb::class_<nn::AlignPostProj, bt::Module>(m, "AlignPostProj",
                                            with_args("Projection with a synapse of the size of its target: comm(x) "
                                                      "drives it, and `post` updates it before its own step.",
                                                      {about::comm, "syn: the synapse.", about::out, about::post})
                                                .c_str())
      .def(
          "__init__",
          [](nn::AlignPostProj* self, ModulePtr comm, SynapsePtr syn, const Output& out, NeuronPtr post) {
            new (self) nn::AlignPostProj(std::move(comm), std::move(syn), out.apply, std::move(post));
          },
          "comm"_a, "syn"_a, "out"_a, "post"_a);
  nb::class_<nn::AlignPreProj, bt::Module>(
      m, "AlignPreProj",
      with_args("Projection with a synapse of the size of its source: x drives it, and comm(g) reaches `post`.",
                {"syn: the synapse.", about::comm, about::out, about::post})
          .c_str())
      .def(
          "__init__",
          [](nn::AlignPreProj* self, SynapsePtr syn, ModulePtr comm, const Output& out, NeuronPtr post) {
            new (self) nn::AlignPreProj(std::move(syn), std::move(comm), out.apply, std::move(post));
          },
          "syn"_a, "comm"_a, "out"_a, "post"_a);
  nb::class_<nn::CurrentProj, bt::Module>(
      m, "CurrentProj",
      with_args("Projection without a synapse: comm(x) is the conductance of the current step.",
                {about::comm, about::out, about::post})
          .c_str())
      .def(
          "__init__",
          [](nn::CurrentProj* self, ModulePtr comm, const Output& out, NeuronPtr post) {
            new (self) nn::CurrentProj(std::move(comm), out.apply, std::move(post));
          },
          "comm"_a, "out"_a, "post"_a);
}

void bind_readouts(nb::module_& m) {
  nb::class_<nn::LeakyRateReadout, bt::Module>(
      m, "LeakyRateReadout",
      with_args("Leaky readout of rates: r = exp(-dt/tau) r + x W; returns r.",
                {"in_size: number of inputs, or shape.", "out_size: number of outputs, or shape.", about::tau,
                 "w_init: initializer of the weight.", "r_initializer: initial r.", about::dt, "name: ignored."})
          .c_str())
      .def(
          "__init__",
          [](nn::LeakyRateReadout* self, SizeArg in_size, SizeArg out_size, nb::handle tau, std::optional<Init> w_init,
             Init r_init, Step dt, nb::handle) {
            nn::ReadoutOptions o;
            o.tau = bt::units::Time(tensor_from(tau).item());
            if (w_init) o.w_init = w_init->get();
            o.r_init = r_init;
            o.dt     = dt;
            new (self) nn::LeakyRateReadout(in_size, out_size, o);
          },
          "in_size"_a, "out_size"_a, "tau"_a = 5.0, "w_init"_a = nb::none(), "r_initializer"_a = 0.0,
          "dt"_a = nb::none(), "name"_a = nb::none());
  nb::class_<nn::LeakySpikeReadout, bt::Module>(
      m, "LeakySpikeReadout",
      with_args("Spiking readout: a weight and a LIF population; returns spikes.",
                {"in_size: number of inputs, or shape.", "out_size: number of outputs, or shape.",
                 "w_init: initializer of the weight.", about::membrane})
          .c_str())
      .def(
          "__init__",
          [](nn::LeakySpikeReadout* self, SizeArg in_size, SizeArg out_size, std::optional<Init> w_init,
             const nb::kwargs& o) {
            new (self) nn::LeakySpikeReadout(in_size, out_size, membrane(out_size, {}, o, "LeakySpikeReadout"),
                                             w_init ? w_init->get() : nn::init::plain::kaiming_normal());
          },
          "in_size"_a, "out_size"_a, "w_init"_a = nb::none(), "options"_a);
  nb::class_<nn::SpikeCountReadout, bt::Module>(m, "SpikeCountReadout",
                                                "Count spikes: return the number of spikes of each unit so far.")
      .def(
          "__init__", [](nn::SpikeCountReadout* self, SizeArg size) { new (self) nn::SpikeCountReadout(size); },
          "in_size"_a);
  nb::class_<nn::FirstSpikeReadout, bt::Module>(
      m, "FirstSpikeReadout",
      with_args("Return the time (ms) of the first spike of each unit; not differentiable.",
                {about::units, "never: value before the first spike.", about::dt})
          .c_str())
      .def(
          "__init__",
          [](nn::FirstSpikeReadout* self, SizeArg size, double never, Step dt) {
            new (self) nn::FirstSpikeReadout(size, never, dt);
          },
          "in_size"_a, "never"_a = 1e7, "dt"_a = nb::none());
  nb::class_<nn::Delay, bt::Module>(m, "Delay",
                                    "Delay the input by a fixed number of steps; the output starts with zeros.")
      .def(
          "__init__", [](nn::Delay* self, SizeArg size, int64_t steps) { new (self) nn::Delay(size, steps); },
          "in_size"_a, "steps"_a);
}

}  // namespace

void bind_neurons(nb::module_& m) {
  nb::module_ n = m.def_submodule("spiking", "Neurons, synapses, projections and readouts.");
  nb::class_<bt::Surrogate>(n, "Surrogate",
                            "A surrogate gradient of the spike function.\n"
                            "\n"
                            "Args:\n"
                            "    kind: name of the surrogate.\n"
                            "    params: its parameters, in order.")
      .def(
          "__init__",
          [](bt::Surrogate* self, const std::string& kind, std::vector<double> params) {
            new (self) bt::Surrogate(kind, std::move(params));
          },
          "kind"_a, "params"_a = std::vector<double>{})
      .def(
          "__call__", [](const bt::Surrogate& s, Arg x) { return bt::spike(x, s); }, "x"_a,
          "Return 1 where x >= 0, else 0; the derivative is the surrogate.")
      .def(
          "slope", [](const bt::Surrogate& s, Arg x) { return s.slope(x); }, "x"_a,
          "Return the surrogate derivative at x.")
      .def_prop_ro(
          "kind", [](const bt::Surrogate& s) { return s.kind(); }, "Name of the surrogate.")
      .def_prop_ro(
          "params", [](const bt::Surrogate& s) { return s.params(); }, "Parameters of the surrogate.")
      .def("__repr__", [](const bt::Surrogate& s) { return s.text(); });
  n.def(
      "surrogates",
      [] {
        nb::list out;
        for (const bt::SurrogateKind& k : bt::surrogates()) {
          nb::dict params;
          for (const auto& p : k.params) params[nb::str(p.name.c_str())] = p.value;
          out.append(nb::make_tuple(k.name, k.doc, params));
        }
        return out;
      },
      "Return (name, equation, parameters with defaults) of every surrogate.");
  n.def(
      "register_surrogate",
      [](const std::string& name, nb::handle slope, const std::string& doc) {
        bt::SurrogateKind kind;
        kind.name  = name;
        kind.doc   = doc;
        kind.slope = [f = tensor_function(slope)](const bt::Tensor& x, const std::vector<double>&) { return f(x); };
        bt::register_surrogate(std::move(kind));
      },
      "name"_a, "slope"_a, "doc"_a = "",
      "Register a surrogate under a name.\n"
      "\n"
      "Args:\n"
      "    name: its name.\n"
      "    slope: function from x to the derivative.\n"
      "    doc: its equation, for lists.");
  n.def(
      "exp_euler",
      [](nb::handle f, Arg v, nb::handle dt) { return nn::exp_euler(tensor_function(f), v, step_size_from(dt).ms()); },
      "f"_a, "v"_a, "dt"_a = nb::none(),
      with_args("Return v after one exponential Euler step of dv/dt = f(v).",
                {"f: the drift.", "v: current value.", about::dt})
          .c_str());
  bind_membranes(n);
  bind_integrators(n);
  bind_synapses(n);
  bind_readouts(n);
}

}  // namespace pybraintrace
