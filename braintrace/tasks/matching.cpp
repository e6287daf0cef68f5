// SPDX-License-Identifier: Apache-2.0
// Delayed match-to-sample: is the second stimulus the first one again?
//
//   dms       T/4 sample, T/2 delay, T/4 test; stimulus c of n: channels c … c+active-1 (mod n) fire; a non-match is
//             c + n/2. With 80 Hz, one channel and T = 40 only (1 - 0.92¹⁰)² = 32% of the trials hold a spike of
//             both stimuli, which bounds the accuracy near 0.66; 500 Hz on two channels leaves next to no such doubt.
//   dms_full  inputs tuned to directions: rate_i(θ) = background + rate · exp(κ (cos(θ - θ_i) - 1)), θ_i = 2π i/n;
//             fixation, sample, delay, test; a non-match direction is any other one. Only background between.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

const std::vector<std::string> answers = {"other", "match"};

std::shared_ptr<Task> dms(const zoo::Fields& f, uint64_t seed) {
  const int64_t T = count(f, "length"), n = count(f, "channels"), active = count(f, "active");
  const double  p = spike_chance(f, "rate_hz");
  if (T < 4) f.refuse("length", fmt::format("a quarter each for sample and test needs at least 4 steps, got {}.", T));
  if (n < 2) f.refuse("channels", fmt::format("two stimuli need at least 2 channels, got {}.", n));
  if (active > n) f.refuse("active", fmt::format("{} of {} channels cannot fire.", active, n));
  const int64_t   sample = T / 4, test = sample + T / 2;
  const TaskFacts facts{.input = {n}, .outputs = 2, .length = T, .class_names = answers};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    const int64_t first  = random.integer(n);
    const bool    match  = random.chance(0.5);
    const int64_t second = match ? first : (first + n / 2) % n;
    for (int64_t t = 0; t < T; ++t) {
      if (t >= sample && t < test) continue;
      for (int64_t a = 0; a < active; ++a)
        s.input(t)[static_cast<size_t>(((t < sample ? first : second) + a) % n)] = random.chance(p);
    }
    s.label(match);
    s.score_only(test);
  });
}

std::shared_ptr<Task> dms_full(const zoo::Fields& f, uint64_t seed) {
  const int64_t n = count(f, "channels"), directions = count(f, "directions");
  if (directions < 2) f.refuse("directions", "a non-match needs at least 2 directions, got 1.");
  const int64_t   sample_from = steps(f, "fixation_ms"), delay_from = sample_from + steps(f, "sample_ms");
  const int64_t   test_from = delay_from + steps(f, "delay_ms"), T = test_from + steps(f, "test_ms");
  const double    peak = spike_chance(f, "rate_hz"), background = spike_chance(f, "background_hz");
  const double    kappa = positive(f, "kappa"), two_pi = 2 * std::numbers::pi;
  const TaskFacts facts{.input = {n}, .outputs = 2, .length = T, .class_names = answers};
  if (peak + background > 1) f.refuse("rate_hz", "with the background, more than one spike in a step.");
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    const int64_t first  = random.integer(directions);
    const bool    match  = random.chance(0.5);
    const int64_t second = match ? first : (first + 1 + random.integer(directions - 1)) % directions;
    const auto    chance = [=](int64_t direction, int64_t i) {
      const double difference = two_pi * (double(direction) / double(directions) - double(i) / double(n));
      return background + peak * std::exp(kappa * (std::cos(difference) - 1));
    };
    std::vector<double> shown_first, shown_second;
    for (int64_t i = 0; i < n; ++i) {
      shown_first.push_back(chance(first, i));
      shown_second.push_back(chance(second, i));
    }
    for (int64_t t = 0; t < T; ++t) {
      const bool sample = t >= sample_from && t < delay_from, test = t >= test_from;
      auto       x = s.input(t);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = random.chance(sample ? shown_first[i] : test ? shown_second[i] : background);
    }
    s.label(match);
    s.score_only(test_from);
  });
}

}  // namespace

std::vector<TaskType> matching_tasks() {
  return {
      {"dms", "spikes of one stimulus, a delay, spikes of the same or the opposite one; target during the test: same?",
       "length=40 channels=16 active=1 rate_hz=80 dt_ms=1", dms},
      {"dms_full",
       "a direction coded by tuned neurons, a delay, the same or another direction; target during the test: same?",
       "channels=100 directions=8 rate_hz=100 background_hz=1 kappa=3 fixation_ms=10 sample_ms=500 delay_ms=1000 "
       "test_ms=500 dt_ms=1",
       dms_full},
  };
}

}  // namespace braintrace::tasks
