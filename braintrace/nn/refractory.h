// SPDX-License-Identifier: Apache-2.0
// Neurons with a refractory period.
#pragma once

#include "braintrace/nn/nonlinear.h"

namespace braintrace::nn {

// The clock of a refractory population.
//   s' = s + dt, and 0 at a spike;   h' = h₁ where s' < τ_ref        s: time since the last spike, no derivative
class RefractoryClock {
 public:
  RefractoryClock(TimeSetting tau_ref, ShortTermState since) : tau_ref_(std::move(tau_ref)), since_(std::move(since)) {}

  // Runs `integrate`, but where the time since the last spike is below τ_ref, the states keep their current values.
  void run(const StateMap& hidden, double dt, const std::function<void()>& integrate,
           const std::function<Tensor()>& spikes) const;

 private:
  TimeSetting    tau_ref_;
  ShortTermState since_;
};
ShortTermState long_since(const Size& size);  // no spike yet

// A neuron whose hidden states keep their values after the reset for τ_ref, whatever the input.
template <class Base>
class Refractory : public Base {
 public:
  // `name` is the class that errors name.
  template <class... Options>
  Refractory(const char* name, const Size& size, const TimeSetting& tau_ref, Options... options)
      : Base(size.checked(name, "size"), std::move(options)...),
        since(this->state("since", long_since(size))),
        hidden_(this->template states<HiddenState>()),
        clock_(tau_ref, since) {
    tau_ref.require_positive(name, "tau_ref");
    this->setting("tau_ref", tau_ref);
  }

  ShortTermState since;

 protected:
  void integrate() override {
    clock_.run(
        hidden_, this->dt_ms(), [&] { Base::integrate(); }, [&] { return this->spikes(); });
  }

 private:
  StateMap        hidden_;
  RefractoryClock clock_;
};

struct LIFRef : Refractory<LIF> {
  explicit LIFRef(const Size& size, const TimeSetting& tau_ref = 5.0, const LIFOptions& o = {})
      : Refractory("LIFRef", size, tau_ref, o.checked("LIFRef")) {}
};
struct ALIFRef : Refractory<ALIF> {
  explicit ALIFRef(const Size& size, const TimeSetting& tau_ref = 5.0, ALIFOptions adaptation = {},
                   const LIFOptions& o = {})
      : Refractory("ALIFRef", size, tau_ref, std::move(adaptation), o.checked("ALIFRef")) {}
};
struct ExpIFRef : Refractory<ExpIF> {
  explicit ExpIFRef(const Size& size, const TimeSetting& tau_ref = 1.7, ExpIFOptions exponential = {},
                    const LIFOptions& o = cortical())
      : Refractory("ExpIFRef", size, tau_ref, exponential, o.checked("ExpIFRef")) {}
};
struct AdExIFRef : Refractory<AdExIF> {
  explicit AdExIFRef(const Size& size, const TimeSetting& tau_ref = 1.7, AdaptationOptions adaptation = {},
                     ExpIFOptions exponential = {}, const LIFOptions& o = cortical())
      : Refractory("AdExIFRef", size, tau_ref, std::move(adaptation), exponential, o.checked("AdExIFRef")) {}
};
struct AdQuaIFRef : Refractory<AdQuaIF> {
  explicit AdQuaIFRef(const Size& size, const TimeSetting& tau_ref = 1.7,
                      AdaptationOptions adaptation = {.b = 0.1, .tau_w = 10.0}, QuaIFOptions quadratic = {},
                      const LIFOptions& o = cortical())
      : Refractory("AdQuaIFRef", size, tau_ref, std::move(adaptation), quadratic, o.checked("AdQuaIFRef")) {}
};

struct GifRef : Refractory<Gif> {
  explicit GifRef(const Size& size, const TimeSetting& tau_ref = 1.7, GifOptions o = {.decay_first = false})
      : Refractory("GifRef", size, tau_ref, std::move(o)) {}
};

}  // namespace braintrace::nn
