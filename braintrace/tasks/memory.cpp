// SPDX-License-Identifier: Apache-2.0
// Working-memory tasks.
//
//   copy            symbols s₁…s_k of 1 … m, then `lag` blanks, then k cues; at cue i the answer is s_i.
//                   One-hot inputs: 0 is the blank, m+1 the cue. Hochreiter and Schmidhuber 1997
//   delayed_xor     a bit on channel 0 at t = 0, another on channel 1 at t = delay; then: a ⊕ b
//   working_memory  a binary vector shown for the first fifth of the time; target at every step
//   adding          uniform numbers, two of them marked, one in each half; at the end: their sum
#include <algorithm>
#include <cmath>

#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

std::shared_ptr<Task> copy(const zoo::Fields& f, uint64_t seed) {
  const int64_t   lag = count(f, "lag"), k = count(f, "count"), m = count(f, "symbols");
  const TaskFacts facts{.input = {m + 2}, .outputs = m + 2, .length = lag + 2 * k};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    for (int64_t t = 0; t < s.length(); ++t) s.input(t)[t < lag + k ? 0 : static_cast<size_t>(m) + 1] = 1;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t symbol                               = 1 + random.integer(m);
      s.input(i)[0]                                      = 0;
      s.input(i)[static_cast<size_t>(symbol)]            = 1;
      s.classes[static_cast<size_t>(s.length() - k + i)] = static_cast<int32_t>(symbol);
    }
    s.score_only(-k);
  });
}

std::shared_ptr<Task> delayed_xor(const zoo::Fields& f, uint64_t seed) {
  const int64_t   delay = count(f, "delay");
  const TaskFacts facts{.input = {2}, .outputs = 2, .length = delay + 1, .class_names = {"equal", "different"}};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    const bool a = random.chance(0.5), b = random.chance(0.5);
    s.input(0)[0]     = a;
    s.input(delay)[1] = b;
    s.label(a != b);
    s.score_only(-1);
  });
}

std::shared_ptr<Task> working_memory(const zoo::Fields& f, uint64_t seed) {
  const int64_t   T = count(f, "length"), n = count(f, "width");
  const int64_t   shown = std::max<int64_t>(1, std::llround(probability(f, "shown") * double(T)));
  const TaskFacts facts{.input = {n}, .targets = TargetKind::Values, .outputs = n, .length = T};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    const auto first = s.value(0);
    for (float& x : first) x = random.chance(0.5);
    for (int64_t t = 0; t < T; ++t) {
      if (t > 0) std::copy(first.begin(), first.end(), s.value(t).begin());
      if (t < shown) std::copy(first.begin(), first.end(), s.input(t).begin());
    }
  });
}

std::shared_ptr<Task> adding(const zoo::Fields& f, uint64_t seed) {
  const int64_t T = count(f, "length"), half = T / 2;
  if (T < 2) f.refuse("length", "two numbers need at least 2 steps, got 1.");
  const TaskFacts facts{.input = {2}, .targets = TargetKind::Values, .outputs = 1, .length = T};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    for (int64_t t = 0; t < T; ++t) s.input(t)[0] = static_cast<float>(random.uniform());
    const int64_t first = random.integer(half), second = half + random.integer(T - half);
    s.input(first)[1] = s.input(second)[1] = 1;
    s.value(T - 1)[0]                      = s.input(first)[0] + s.input(second)[0];
    s.score_only(-1);
  });
}

}  // namespace

std::vector<TaskType> memory_tasks() {
  return {
      {"copy", "`count` random symbols, `lag` blanks, `count` cues; target at the cues: the symbols in order",
       "lag=10 count=10 symbols=8", copy},
      {"delayed_xor", "a bit, `delay` steps, another bit on a second channel; target at the end: whether they differ",
       "delay=10", delayed_xor},
      {"working_memory", "a binary vector for the fraction `shown` of the time; target at every step: the vector",
       "length=30 width=8 shown=0.2", working_memory},
      {"adding", "uniform numbers, one of each half marked on a second channel; target at the end: the sum of the two",
       "length=50", adding},
  };
}

}  // namespace braintrace::tasks
