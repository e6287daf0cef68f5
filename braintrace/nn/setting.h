// SPDX-License-Identifier: Apache-2.0
// Numbers of a neuron or synapse: one for all units, one per unit, or a trainable parameter (read through element_wise,
// so that it learns online).
//
//   LIF(100, {.tau = 20_ms});   LIF(100, {.tau = init::uniform(10, 30)({100})});   LIF(100, {.tau = ParamState(…)});
#pragma once

#include <optional>
#include <variant>

#include "braintrace/model/module.h"
#include "braintrace/nn/units.h"

namespace braintrace::nn {

class AnySetting {
 public:
  // The value with the element type of `like`.
  Tensor                    value(const Tensor& like) const;
  std::optional<double>     number() const;  // if it is the same for all units
  std::optional<ParamState> param() const;   // if it is trainable
  std::string               text() const;

  // Throws UserError unless every value is positive; `layer` and `name` are for the message.
  void require_positive(const char* layer, const char* name) const;

 protected:
  explicit AnySetting(double v) : value_(v) {}
  explicit AnySetting(const Tensor& v) {
    if (v.is_literal() && v.rank() == 0)
      value_ = v.fill();
    else
      value_ = v;
  }
  explicit AnySetting(ParamState v) : value_(std::move(v)) {}

 private:
  std::variant<double, Tensor, ParamState> value_;
};

// A setting with a physical dimension; plain numbers are in ms, mV, mA.
template <class Q>
class Setting : public AnySetting {
 public:
  Setting(double v) : AnySetting(v) {}
  Setting(int v) : AnySetting(static_cast<double>(v)) {}
  Setting(Q v) : AnySetting(v.value) {}
  Setting(Tensor v) : AnySetting(std::move(v)) {}
  Setting(ParamState v) : AnySetting(std::move(v)) {}
};
template <>
class Setting<double> : public AnySetting {
 public:
  Setting(double v) : AnySetting(v) {}
  Setting(int v) : AnySetting(static_cast<double>(v)) {}
  Setting(Tensor v) : AnySetting(std::move(v)) {}
  Setting(ParamState v) : AnySetting(std::move(v)) {}
};

using TimeSetting       = Setting<units::Time>;
using VoltageSetting    = Setting<units::Voltage>;
using CurrentSetting    = Setting<units::Current>;
using ResistanceSetting = Setting<units::Resistance>;

// A module with settings. Trainable settings are its parameters, with the same names; the others are shown when it is
// printed.
class WithSettings : public Module {
 protected:
  void setting(const char* name, const AnySetting& s);
};

// The time step: the given one, or that of the Environment when the step runs.
class StepSize {
 public:
  StepSize() = default;
  StepSize(double ms);
  StepSize(units::Time t) : StepSize(t.value) {}
  double ms() const;

 private:
  std::optional<double> ms_;
};

// e^{-dt/τ}
Tensor decay(const AnySetting& tau, double dt, const Tensor& like);
// The exact step of dv/dt = (target - v)/τ:   v' = target + e^{-dt/τ} (v - target)
Tensor relaxed(const Tensor& v, const Tensor& target, const AnySetting& tau, double dt);

}  // namespace braintrace::nn
