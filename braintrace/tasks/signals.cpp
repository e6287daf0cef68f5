// SPDX-License-Identifier: Apache-2.0
// Tasks of tracking a signal.
//
//   integrator  x_t = b + 0.01/√dt ξ_t, bias b = 0.025 · 2(n - ½), n and ξ normal; target: Σ_{s ≤ t} x_s
//   sine        x_t = sin(2π f t / 10), f uniform in 0.5 … 2.5; target: x_{t+1}
//   pattern     frozen spikes, one train per pattern; target: the pattern's sum of five sines,
//               y_t = Σ_k a_k sin(2π k t/T + φ_k) / Σ_k a_k, a and φ drawn once per task
#include <cmath>
#include <numbers>

#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

TaskFacts one_value(int64_t inputs, int64_t T) {
  return {.input = {inputs}, .targets = TargetKind::Values, .outputs = 1, .length = T};
}

std::shared_ptr<Task> integrator(const zoo::Fields& f, uint64_t seed) {
  const int64_t T     = count(f, "length");
  const double  noise = 0.01 / std::sqrt(positive(f, "dt"));
  return generated(one_value(1, T), seed, [=](Random& random, const Sample& s) {
    const double bias = 0.025 * 2 * (random.normal() - 0.5);
    double       sum  = 0;
    for (int64_t t = 0; t < T; ++t) {
      sum += s.input(t)[0] = static_cast<float>(bias + noise * random.normal());
      s.value(t)[0]        = static_cast<float>(sum);
    }
  });
}

std::shared_ptr<Task> sine(const zoo::Fields& f, uint64_t seed) {
  const int64_t T     = count(f, "length");
  TaskFacts     facts = one_value(1, T);
  facts.ahead         = 1;
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    const double frequency = random.uniform(0.5, 2.5);
    const auto   x = [&](int64_t t) { return static_cast<float>(std::sin(two_pi * frequency * double(t) / 10)); };
    for (int64_t t = 0; t < T; ++t) {
      s.input(t)[0] = x(t);
      s.value(t)[0] = x(t + 1);
    }
  });
}

std::shared_ptr<Task> pattern(const zoo::Fields& f, uint64_t seed) {
  const int64_t   T = count(f, "length"), n = count(f, "channels"), patterns = count(f, "patterns");
  const double    p     = spike_chance(f, "rate_hz");
  const TaskFacts facts = one_value(n, T);
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    Random frozen = Random::of_task(seed, random.integer(patterns));
    for (float& x : s.inputs) x = frozen.chance(p);
    double sum = 0;
    for (int k = 1; k <= 5; ++k) {
      const double a = frozen.uniform(0.5, 2), phase = frozen.uniform(0, two_pi);
      sum += a;
      for (int64_t t = 0; t < T; ++t)
        s.value(t)[0] += static_cast<float>(a * std::sin(two_pi * k * double(t) / double(T) + phase));
    }
    for (float& y : s.values) y /= static_cast<float>(sum);
  });
}

}  // namespace

std::vector<TaskType> signal_tasks() {
  return {
      {"integrator", "a noisy constant; target at every step: its sum so far", "length=25 dt=0.04", integrator},
      {"sine", "a sine of random frequency; target at every step: the next sample", "length=50", sine},
      {"pattern",
       "fixed spike trains, one per pattern; target at every step: a smooth curve, "
       "one per pattern",
       "patterns=3 channels=20 length=100 rate_hz=50 dt_ms=1", pattern},
  };
}

}  // namespace braintrace::tasks
