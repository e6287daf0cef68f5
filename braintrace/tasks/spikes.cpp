// SPDX-License-Identifier: Apache-2.0
// Tasks on random spikes and counts.
//
//   poisson_rows      each class has a profile r_i uniform in 0.1 … 0.9, drawn once per task; x_ti ~ Poisson(r_i)
//   spike_integrator  x_ti = 1 with probability rate·dt; target: Σ_{s ≤ t} Σ_i x_si / T
//   random_frames     x_ti = 1 with probability `density`, labels without meaning: for measuring time and memory
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

std::shared_ptr<Task> poisson_rows(const zoo::Fields& f, uint64_t seed) {
  const int64_t T = count(f, "length"), n = count(f, "width"), classes = count(f, "classes");
  if (double(n) * double(classes) > 1e7) f.refuse("classes", "profiles of so many classes and inputs are too large.");
  std::vector<double> profiles;
  for (Random random = Random::of_task(seed); std::ssize(profiles) < n * classes;)
    profiles.push_back(random.uniform(0.1, 0.9));
  return generated({.input = {n}, .outputs = classes, .length = T}, seed, [=](Random& random, const Sample& s) {
    const int64_t c = random.integer(classes);
    for (int64_t t = 0; t < T; ++t)
      for (int64_t i = 0; i < n; ++i)
        s.input(t)[static_cast<size_t>(i)] =
            static_cast<float>(random.poisson(profiles[static_cast<size_t>(c * n + i)]));
    s.label(static_cast<int32_t>(c));
    s.score_only(-1);
  });
}

std::shared_ptr<Task> spike_integrator(const zoo::Fields& f, uint64_t seed) {
  const int64_t   T = count(f, "length"), n = count(f, "channels");
  const double    p = spike_chance(f, "rate_hz");
  const TaskFacts facts{.input = {n}, .targets = TargetKind::Values, .outputs = 1, .length = T};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    int64_t spikes = 0;
    for (int64_t t = 0; t < T; ++t) {
      for (float& x : s.input(t)) spikes += (x = random.chance(p)) != 0;
      s.value(t)[0] = static_cast<float>(double(spikes) / double(T));
    }
  });
}

std::shared_ptr<Task> random_frames(const zoo::Fields& f, uint64_t seed) {
  const int64_t T = count(f, "length"), n = count(f, "width"), classes = count(f, "classes");
  const double  p = probability(f, "density");
  return generated({.input = {n}, .outputs = classes, .length = T}, seed, [=](Random& random, const Sample& s) {
    for (float& x : s.inputs) x = random.chance(p);
    s.label(static_cast<int32_t>(random.integer(classes)));
  });
}

}  // namespace

std::vector<TaskType> spike_tasks() {
  return {
      {"poisson_rows", "Poisson counts with the rates of one class; target at the end: the class",
       "length=28 width=28 classes=4", poisson_rows},
      {"spike_integrator", "random spikes; target at every step: their number so far, divided by the length",
       "length=50 channels=1 rate_hz=50 dt_ms=1", spike_integrator},
      {"random_frames", "random spikes with random labels: nothing to learn; for benchmarks",
       "length=50 width=64 classes=11 density=0.1", random_frames},
  };
}

}  // namespace braintrace::tasks
