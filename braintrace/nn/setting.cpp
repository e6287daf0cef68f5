// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/setting.h"

#include <cmath>

#include <fmt/format.h>

#include "braintrace/etp/element_wise.h"
#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"

namespace braintrace::nn {

Tensor AnySetting::value(const Tensor& like) const {
  if (const auto* v = std::get_if<double>(&value_)) return Tensor(*v);
  if (const auto* v = std::get_if<Tensor>(&value_)) return convert(*v, like.dtype());
  return element_wise(std::get<ParamState>(value_).value());
}

std::optional<double> AnySetting::number() const {
  if (const auto* v = std::get_if<double>(&value_)) return *v;
  return {};
}
std::optional<ParamState> AnySetting::param() const {
  if (const auto* v = std::get_if<ParamState>(&value_)) return *v;
  return {};
}

std::string AnySetting::text() const {
  if (const auto* v = std::get_if<double>(&value_)) return fmt::format("{}", *v);
  if (const auto* v = std::get_if<Tensor>(&value_)) return to_string(v->type());
  return "trainable " + to_string(std::get<ParamState>(value_).value().type());
}

void AnySetting::require_positive(const char* layer, const char* name) const {
  if (const auto v = number()) {
    require(*v > 0, "{}: {} must be positive, got {}.", layer, name, *v);
    return;
  }
  const Array a = param() ? param()->value().array() : std::get<Tensor>(value_).array();
  for (int64_t i = 0; i < a.size(); ++i)
    require(at(a, i) > 0, "{}: every {} must be positive, but entry {} is {}.", layer, name, i, at(a, i));
}

void WithSettings::setting(const char* name, const AnySetting& s) {
  if (const auto p = s.param())
    state(name, *p);
  else
    field(name, s.text());
}

StepSize::StepSize(double ms) : ms_(ms) {
  require(ms > 0 && std::isfinite(ms), "time step: dt must be positive, got {}.", ms);
}

double StepSize::ms() const { return ms_ ? *ms_ : Environment::dt(); }

Tensor decay(const AnySetting& tau, double dt, const Tensor& like) {
  if (const auto t = tau.number()) return Tensor(std::exp(-dt / *t));
  return exp(-dt / tau.value(like));
}

Tensor relaxed(const Tensor& v, const Tensor& target, const AnySetting& tau, double dt) {
  return target + decay(tau, dt, v) * (v - target);
}

}  // namespace braintrace::nn
