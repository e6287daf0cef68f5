// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/alarms.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/percent.h"

namespace braintrace::train {

namespace {

constexpr double share    = 0.5;   // of a layer's units; smaller fractions are not reported
constexpr double at_bound = 0.99;  // of 1, the bound of tanh and sigmoid
constexpr double always   = 0.9;   // spikes per step

constexpr size_t      most_single = 3;              // layers that are named one by one
constexpr const char* many_layers = "many layers";  // the place of what several share

template <class Is>
double fraction(size_t n, Is is) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) count += is(i) ? 1 : 0;
  return n == 0 ? 0 : static_cast<double>(count) / static_cast<double>(n);
}

}  // namespace

std::vector<Alarm> activity_alarms(int64_t step, const std::vector<UnitStatistics>& units) {
  std::vector<Alarm> out;
  for (const UnitStatistics& u : units) {
    const size_t n   = u.mean.size();
    const auto   say = [&](const char* kind, double part, const char* what, const char* advice) {
      if (part < share) return;
      out.push_back(
            {step, kind, u.what.path, fmt::format("{} of {} units {}.\n  {}", percent(part, 0), n, what, advice)});
    };
    if (u.what.kind == "spikes") {
      say("dead", fraction(n, [&](size_t i) { return u.mean[i] == 0; }), "never fire",
          "Scale the input weights up, lower V_th, or use a wider surrogate.");
      say("saturated", fraction(n, [&](size_t i) { return u.mean[i] > always; }), "fire at nearly every step",
          "Scale the input weights down, raise V_th, or lower the learning rate.");
    } else if (u.what.kind == "hidden") {
      say("dead", fraction(n, [&](size_t i) { return u.least[i] == u.most[i]; }), "never change",
          "Check that inputs reach the layer, and its activation function.");
      const bool bounded = std::all_of(u.most.begin(), u.most.end(), [](double v) { return v <= 1; }) &&
                           std::all_of(u.least.begin(), u.least.end(), [](double v) { return v >= -1; });
      if (bounded)
        say("saturated", fraction(n, [&](size_t i) { return std::abs(u.mean[i]) > at_bound; }), "stay at their bound",
            "Lower the learning rate or the scale of the weights.");
    }
  }
  return out;
}

std::vector<Alarm> joined_alarms(const std::vector<Alarm>& all) {
  std::map<std::string, std::vector<const Alarm*>> of_kind;
  for (const Alarm& a : all) of_kind[a.kind].push_back(&a);
  std::vector<Alarm> out;
  for (const Alarm& a : all) {
    const auto& same = of_kind[a.kind];
    if (same.size() <= most_single) {
      out.push_back(a);
    } else if (same[0] == &a) {
      std::vector<std::string> places;
      for (size_t i = 0; i < most_single; ++i) places.push_back(same[i]->where);
      out.push_back({a.step, a.kind, many_layers,
                     fmt::format("{} layers, {} and {} more; the first: {}", same.size(), fmt::join(places, ", "),
                                 same.size() - most_single, a.message)});
    }
  }
  return out;
}

std::vector<Alarm> finite_alarms(int64_t step, double loss, const StateMap& weights,
                                 const std::vector<double>& gradient_norms) {
  for (size_t i = 0; i < gradient_norms.size(); ++i)
    if (!std::isfinite(gradient_norms[i])) {
      const std::string path = weights[i].first.str();
      return {{step, "not_finite", path,
               fmt::format("the gradient of {} is not finite at update {} (loss {}).\n  {}", path, step, loss,
                           finite_advice)}};
    }
  if (std::isfinite(loss)) return {};
  return {{step, "not_finite", "loss", fmt::format("the loss is {} at update {}.\n  {}", loss, step, finite_advice)}};
}

}  // namespace braintrace::train
