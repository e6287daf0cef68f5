// SPDX-License-Identifier: Apache-2.0
// A run as a trainer would record it, made up: a spiking network that learns three classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "braintrace/base/rng.h"
#include "braintrace/train/run_record.h"

namespace braintrace::train {

inline Array made_matrix(int64_t rows, int64_t columns, const std::function<double(int64_t, int64_t)>& value) {
  std::vector<float> out;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) out.push_back(static_cast<float>(value(i, j)));
  return Array::of(out, {rows, columns});
}

inline RunRecord sample_run(int64_t steps, int64_t T = 100, int64_t neurons = 64) {
  Rng       rng(3);
  RunRecord run;
  run.seed       = 42;
  run.parameters = 14794;
  run.config     = R"({"model": {"type": "chain"}, "rule": "D_RTRL", "task": {"type": "evidence", "length": 100},
                   "optimizer": {"type": "adam", "lr": 0.003}, "batch": 32, "note": "</script><b>&"})";
  run.model_text = "Net(\n  rec: LIF(n = 64)\n  out: Linear(64 -> 3)\n)";
  run.graph_svg =
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 300 80' width='300' height='80'><rect x='10' y='20' "
      "width='90' "
      "height='40' rx='8' fill='#e3f0f9' stroke='#0067a5'/><path d='M100 40H200' stroke='#5a6675'/><rect x='200' "
      "y='20' "
      "width='90' height='40' rx='8' fill='#fff3dc' stroke='#b56a00'/></svg>";
  for (int64_t s = 1; s <= steps; ++s) {
    const double part  = static_cast<double>(s) / static_cast<double>(steps);
    const double loss  = (1.1 * std::exp(-5 * part) + 0.02) * std::exp(0.25 * rng.normal());
    const double right = std::min(1.0, std::max(0.0, 0.34 + 0.63 * (1 - std::exp(-6 * part)) + 0.05 * rng.normal()));
    run.steps.push_back({s, loss, right, 3 * loss * std::exp(0.3 * rng.normal()),
                         0.003 * 0.5 * (1 + std::cos(3.14159 * part)), 0.004 * static_cast<double>(s)});
    if (s % std::max<int64_t>(1, steps / 20) == 0)
      run.validations.push_back({s, 1.1 * std::exp(-4.6 * part) + 0.04, 0.33 + 0.62 * (1 - std::exp(-5.5 * part))});
  }
  run.class_names        = {"left", "right", "neither <&>"};
  run.judgment.confusion = Array::of<int64_t>({182, 9, 5, 12, 170, 14, 3, 8, 197}, {3, 3});

  Activity& a = run.activity;
  a.inputs    = made_matrix(T, 20, [&](int64_t t, int64_t j) {
    return rng.uniform() < 0.08 + 0.3 * static_cast<double>((t / 17) % 4 == j / 5) ? 1 : 0;
  });
  std::vector<double> rate(static_cast<size_t>(neurons)), v(static_cast<size_t>(neurons));
  for (double& r : rate) r = 0.02 + 0.1 * rng.uniform();
  std::vector<float> spikes, voltages;
  for (int64_t t = 0; t < T; ++t)
    for (size_t j = 0; j < v.size(); ++j) {
      v[j] = 0.9 * v[j] + rate[j] * (1.6 + std::sin(0.15 * static_cast<double>(t) + static_cast<double>(j))) +
             0.03 * rng.normal();
      const bool fires = v[j] > 1;
      voltages.push_back(static_cast<float>(v[j]));
      spikes.push_back(fires ? 1.0F : 0.0F);
      if (fires) v[j] = 0;
    }
  a.states.push_back({"rec.spike", "spikes", Array::of(spikes, {T, neurons})});
  a.states.push_back({"rec.V", "voltage", Array::of(voltages, {T, neurons})});
  a.states.push_back({"gru.h", "hidden", made_matrix(T, neurons, [](int64_t t, int64_t j) {
                        return std::sin(0.02 * static_cast<double>(t * (j % 9 + 1))) *
                               std::exp(-0.004 * static_cast<double>((t - 50) * (t - 50)) /
                                        static_cast<double>(j % 5 + 1));
                      })});
  std::vector<int32_t> targets(static_cast<size_t>(T), 2);
  a.outputs = made_matrix(T, 3, [&](int64_t t, int64_t j) {
    const double sure = 1 / (1 + std::exp(-(static_cast<double>(t) - 40) / 9));
    return j == 2 ? sure : (1 - sure) / 2 + 0.05 * rng.normal();
  });
  a.targets = Array::of(targets, {T});
  for (const auto& [weight, size] : {std::pair("rec.w.weight", 4.0), {"rec.w.bias", 0.9}, {"rec.tau", 0.2}}) {
    std::vector<double> norms;
    for (int64_t t = 0; t < T; ++t)
      norms.push_back(size * (1 - std::exp(-0.08 * static_cast<double>(t))) * (1 + 0.05 * rng.normal()));
    a.trace_norms[weight] = norms;
  }
  return run;
}

// Things went wrong: losses that are not finite, alarms, values instead of classes.
inline RunRecord troubled_run() {
  RunRecord run = sample_run(400, 60, 3);
  for (size_t i = 200; i < 260; ++i) run.steps[i].loss = i % 2 ? NAN : INFINITY;
  for (StepRecord& s : run.steps) s.accuracy = -1;
  for (ValidationRecord& v : run.validations) v.accuracy = -1;
  for (int64_t i = 0; i < 60; ++i)
    run.alarms.push_back({201 + i, i ? "dead" : "not_finite", "rec.<V>", "the loss is nan; lower the learning rate"});
  run.judgment.confusion = Array(Type{DType::I64, {0, 0}});
  run.activity.outputs =
      made_matrix(60, 2, [](int64_t t, int64_t j) { return std::sin(0.2 * static_cast<double>(t + j)); });
  run.activity.targets =
      made_matrix(60, 2, [](int64_t t, int64_t j) { return std::sin(0.2 * static_cast<double>(t + j) + 0.3); });
  run.config = "not json <&>";
  return run;
}

inline RunRecord one_class_run() {
  RunRecord run          = sample_run(1, 1, 1);
  run.judgment.confusion = Array::of<int64_t>({7}, {1, 1});
  run.class_names        = {};
  return run;
}

}  // namespace braintrace::train
